-- Everything that is triggered by time alone: requests an evaluation of environments with due timers or with untaken operations, unless
-- they are frozen, and lets work that was left take its turn. Answers of how many it requested one. Every worker calls it; concurrent
-- calls do no harm. Raises nothing, locks only jobs.
create or replace function svc_api.request_due_evaluations(settle interval)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
declare
  _environments integer[];
  _now constant timestamptz := now();
  _late_after constant timestamptz := _now - request_due_evaluations.settle;
  -- Later ones are from before the clock was set back.
  _late_until constant timestamptz := _now + interval '1 minute';
begin
  -- One index probe per environment and kind of work; the order by keeps the first from reading all waiting rows. The conditions for due
  -- timers are those of svc.due_customers.
  select array_agg(h.environment_id) into _environments
  from svc.homes as h
  where (
    select true
    from svc.inbox as i
    where i.environment_id = h.environment_id and i.not_before is null
    order by i.late, i.seq
    limit 1
  ) or (
    select true
    from svc.customers as c
    where c.environment_id = h.environment_id and c.next_due_at <= _now and c.held_until is null and c.set_aside_at is null
    limit 1
  ) or (
    select true
    from svc.customers as c
    where c.environment_id = h.environment_id and greatest(c.next_due_at, c.held_until) <= _now
      and c.next_due_at is not null and c.held_until is not null and c.set_aside_at is null
    limit 1
  ) or (
    select true
    from svc.customers as c
    where c.environment_id = h.environment_id and c.next_due_at <= _now and c.held_until is not null and c.set_aside_at is null
    limit 1
  ) and not exists (
    select 1
    from svc.ingest_batches as b
    where b.environment_id = h.environment_id and b.late
      and b.accepted_at > _late_after and b.accepted_at < _late_until
  );
  _environments := array(
    select u.environment_id from unnest(_environments) as u (environment_id) where not svc.is_frozen(u.environment_id)
  );
  perform svc.request_evaluation(_environments);
  perform svc.advance_evaluations();
  return coalesce(cardinality(_environments), 0);
end;
$$;

comment on function svc_api.request_due_evaluations(interval) is
  'Requests evaluations of environments with due timers or untaken operations.';
