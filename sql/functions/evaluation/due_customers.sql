-- Customers whose timers are due and may fire: they have no waiting operation, and if their last event was a late one, the environment has
-- accepted no late event for the settling time, or a day has passed. Of the two cases for held customers only one is read, each by its own
-- index, so that a backfill in progress costs nothing here.
-- Raises nothing, locks nothing.
create or replace function svc.due_customers(environment_id integer, instant timestamptz, settled boolean, customer_limit integer)
returns setof text
language sql
stable
set search_path = ''
as $$
  select d.customer_id
  from (
    (
      select c.customer_id
      from svc.customers as c
      where c.environment_id = due_customers.environment_id
        and c.next_due_at <= due_customers.instant
        and c.held_until is null
        and c.set_aside_at is null
      order by c.next_due_at
      limit due_customers.customer_limit
    )
    union all
    (
      select c.customer_id
      from svc.customers as c
      where due_customers.settled
        and c.environment_id = due_customers.environment_id
        and c.next_due_at <= due_customers.instant
        and c.held_until is not null
        and c.set_aside_at is null
      order by c.next_due_at
      limit due_customers.customer_limit
    )
    union all
    (
      select c.customer_id
      from svc.customers as c
      where not due_customers.settled
        and c.environment_id = due_customers.environment_id
        and greatest(c.next_due_at, c.held_until) <= due_customers.instant
        and c.next_due_at is not null
        and c.held_until is not null
        and c.set_aside_at is null
      order by greatest(c.next_due_at, c.held_until)
      limit due_customers.customer_limit
    )
  ) as d
  where not exists (
    select 1
    from svc.inbox as i
    where i.environment_id = due_customers.environment_id and i.customer_id = d.customer_id and i.not_before is null
  );
$$;

comment on function svc.due_customers(integer, timestamptz, boolean, integer) is 'Customers whose timers are due and may fire.';
