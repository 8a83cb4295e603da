-- TIMERS_OVERDUE if customers should have been evaluated more than a minute ago because a timer was due that may fire even while late
-- events come in; else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_timers(environment_id integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _due constant text[] := array(
    select svc.due_customers(check_timers.environment_id, now() - interval '1 minute', false, 10001)
  );
  _oldest timestamptz;
begin
  if _due = '{}' then
    return null;
  end if;
  select min(c.next_due_at) into _oldest
  from unnest(_due) as d (customer_id)
  cross join lateral (
    select k.next_due_at
    from svc.customers as k
    where k.environment_id = check_timers.environment_id and k.customer_id = d.customer_id
    limit 1
  ) as c;
  return svc.finding(
    'TIMERS_OVERDUE',
    'problem',
    svc.count_text(cardinality(_due), 'customer has', 'customers have') || ' had a timer due for more than a minute without evaluation.',
    'If the number does not fall, check that a worker runs: GET /readyz of the service says so.',
    cardinality(_due),
    json_build_object('oldestDueAt', svc.iso(_oldest))
  );
end;
$$;

comment on function svc.check_timers(integer) is 'Diagnostics: customers with overdue timers.';
