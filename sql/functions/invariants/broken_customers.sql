-- Customers with missing data, and operations without their customer: an evaluated operation has a customer, others wait.
-- Raises nothing, locks nothing.
create or replace function svc.broken_customers()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with lost as (
    select o.environment_id, o.customer_id, count(*) as operations
    from (
      select e.environment_id, e.customer_id, e.event_seq as seq from svc.events as e
      union all
      select t.environment_id, t.customer_id, t.operation_seq from svc.trait_updates as t
    ) as o
    left join svc.customers as c on c.environment_id = o.environment_id and c.customer_id = o.customer_id
    left join svc.inbox as i on i.environment_id = o.environment_id and i.customer_id = o.customer_id and i.seq = o.seq
    where c.customer_id is null and i.seq is null
    group by o.environment_id, o.customer_id
  ),
  evaluated as (
    select e.environment_id, e.customer_id, max(e.occurred_at) as last_at
    from svc.events as e
    left join svc.inbox as i on i.environment_id = e.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
    where i.seq is null
    group by e.environment_id, e.customer_id
  )
  select
    'operations_wait_or_are_evaluated', l.environment_id,
    format('%s operations of "%s" do not wait, and there is no such customer', l.operations, l.customer_id)
  from lost as l
  union all
  select
    'operations_wait_or_are_evaluated', c.environment_id,
    format(
      'the latest event of the customer "%s" that does not wait occurred at %s; the customer knows of none after %s',
      c.customer_id, svc.iso(e.last_at), coalesce(svc.iso(c.last_event_at), 'the beginning')
    )
  from evaluated as e
  join svc.customers as c on c.environment_id = e.environment_id and c.customer_id = e.customer_id
  -- The engine has a resolution of one millisecond.
  where (e.last_at < c.last_event_at + interval '1 millisecond') is not true
  union all
  select 'rows_belong_to_an_environment', c.environment_id, format('the customer "%s"', c.customer_id)
  from svc.customers as c
  left join svc.environments as e on e.environment_id = c.environment_id
  where e.environment_id is null
  union all
  select
    'versions_in_use_are_stored', c.environment_id,
    format('v%s, which the customer "%s" was evaluated under', c.config_version, c.customer_id)
  from svc.customers as c
  join svc.environments as e on e.environment_id = c.environment_id
  left join svc.config_versions as v on v.project_id = e.project_id and v.version = c.config_version
  where c.config_version is not null and v.version is null
  union all
  select
    'customers_are_set_aside_for_a_reason', c.environment_id,
    case
      when c.set_aside_error is null then format('the customer "%s" is set aside without an error', c.customer_id)
      else format('the customer "%s" has an error and is not set aside', c.customer_id)
    end
  from svc.customers as c
  where (c.set_aside_at is null) <> (c.set_aside_error is null)
$$;

comment on function svc.broken_customers() is 'Invariants: customers and the operations that created them.';
