-- TIMERS_OVERDUE if customers should have been evaluated more than a minute ago because a timer was due that may fire even while late
-- events come in; else TIMERS_HELD if due timers wait for late events, as in svc_api.list_due_customers; else null. Counts up to 10,001.
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
  _held integer;
  _oldest timestamptz;
begin
  if _due = '{}' then
    select count(*), min(h.next_due_at) into _held, _oldest
    from (
      select c.next_due_at
      from svc.customers as c
      where c.environment_id = check_timers.environment_id
        and c.next_due_at < now() - interval '10 seconds'
        and c.held_until is not null
        and c.set_aside_at is null
      order by c.next_due_at
      limit 10001
    ) as h;
    if _held = 0 then
      return null;
    end if;
    return svc.finding(
      'TIMERS_HELD',
      'info',
      svc.count_text(_held, 'customer has a timer that is due and waits', 'customers have timers that are due and wait')
        || ', because past events arrive. States, segments and figures are not final.',
      'Wait: the timers fire soon after the last past event has arrived, a day later at the latest.',
      _held,
      json_build_object('oldestDueAt', svc.iso(_oldest))
    );
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

comment on function svc.check_timers(integer) is 'Diagnostics: customers whose timers are overdue, or wait for late events.';
