-- Customers whose state changes by time alone, the earliest first, each with the instant at which its next timer can fire: when it is due
-- or, if the customer's last event was late and the environment has not settled, the end of the hold if that is later; isHeld says that the
-- timer waits, as it may fire sooner: as soon as the environment has settled. It counts as not settled if a held timer is overdue by more
-- than 10 seconds, longer than firing takes. Customers that were set aside are left out.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_due_customers(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_due_customers'
  );
  _position constant text := svc.decode_cursor('due-customers', list_due_customers.cursor, '^([0-9]{1,18}|-[0-9]{1,17}) ');
  _after constant timestamptz := coalesce(svc.instant_of(split_part(_position, ' ', 1)::bigint), '-infinity');
  _after_id constant text := coalesce(substr(_position, strpos(_position, ' ') + 1), '');
  _waiting constant boolean := exists (
    select
    from svc.customers as c
    where c.environment_id = _environment.environment_id
      and c.next_due_at < now() - interval '10 seconds'
      and c.held_until is not null
      and c.set_aside_at is null
  );
  _items json[];
  _positions text[];
begin
  select
    array_agg(
      json_build_object(
        'customerId', r.customer_id, 'lifecycle', r.lifecycle, 'nextDueAt', svc.iso(r.due_at), 'isHeld', r.is_held
      )
      order by r.n
    ),
    array_agg(concat(svc.microseconds(r.due_at), ' ', r.customer_id) order by r.n)
  into _items, _positions
  from (
    select row_number() over (order by d.due_at, d.customer_id) as n, d.customer_id, d.lifecycle, d.due_at, d.is_held
    -- As in svc.due_customers, each kind by its own index.
    from (
      (
        select c.customer_id, c.lifecycle, c.next_due_at as due_at, false as is_held
        from svc.customers as c
        where c.environment_id = _environment.environment_id
          and c.next_due_at is not null
          and c.held_until is null
          and c.set_aside_at is null
          and c.next_due_at >= _after
          and (c.next_due_at, c.customer_id) > (_after, _after_id collate "C")
        order by c.next_due_at, c.customer_id
        limit list_due_customers.row_limit + 1
      )
      union all
      (
        select c.customer_id, c.lifecycle, c.next_due_at as due_at, false
        from svc.customers as c
        where not _waiting
          and c.environment_id = _environment.environment_id
          and c.next_due_at is not null
          and c.held_until is not null
          and c.set_aside_at is null
          and c.next_due_at >= _after
          and (c.next_due_at, c.customer_id) > (_after, _after_id collate "C")
        order by c.next_due_at, c.customer_id
        limit list_due_customers.row_limit + 1
      )
      union all
      (
        select c.customer_id, c.lifecycle, greatest(c.next_due_at, c.held_until) as due_at, c.held_until > c.next_due_at
        from svc.customers as c
        where _waiting
          and c.environment_id = _environment.environment_id
          and c.next_due_at is not null
          and c.held_until is not null
          and c.set_aside_at is null
          and greatest(c.next_due_at, c.held_until) >= _after
          and (greatest(c.next_due_at, c.held_until), c.customer_id) > (_after, _after_id collate "C")
        order by greatest(c.next_due_at, c.held_until), c.customer_id
        limit list_due_customers.row_limit + 1
      )
    ) as d
    order by d.due_at, d.customer_id
    limit list_due_customers.row_limit + 1
  ) as r;
  return svc.page('due-customers', _items, _positions, list_due_customers.row_limit);
end;
$$;

comment on function svc_api.list_due_customers(bytea, text, text, text, integer, text) is
  'Customers whose state changes by time alone, the earliest first.';
