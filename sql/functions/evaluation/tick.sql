-- The heartbeat of a worker and all that time alone brings about: jobs of workers that fell silent are unlocked, and environments with
-- due timers or with operations that nobody took get an evaluation. Answers in how many.
-- Every worker ticks; that two tick at once does no harm. Locks nothing for long.
create or replace function svc_api.tick(worker_id text, settle interval)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _silent text[];
  _environments integer[];
  _now constant timestamptz := now();
  _late_after constant timestamptz := _now - tick.settle;
begin
  insert into svc.workers as w (worker_id)
  values (tick.worker_id)
  on conflict (worker_id) do update
  set seen_at = now();

  delete from svc.workers as w
  where w.worker_id in (
    select s.worker_id from svc.workers as s where s.seen_at < now() - interval '30 seconds' for update skip locked
  );
  -- Not only those just deleted: a worker may have been killed before its first heartbeat, or between the two statements.
  select array_agg(distinct j.locked_by) into _silent
  from graphile_worker.jobs as j
  where j.locked_by is not null
    and j.locked_at < now() - interval '30 seconds'
    and not exists (select 1 from svc.workers as w where w.worker_id = j.locked_by);
  if _silent is not null then
    perform svc.unlock_workers(_silent);
  end if;

  -- One index probe per environment and kind of work; the order keeps the first from reading all that wait. What is due is what
  -- svc.due_customers says.
  select array_agg(h.environment_id) into _environments
  from svc.homes as h
  where (
    select true
    from svc.inbox as i
    where i.environment_id = h.environment_id and i.not_before is null
    order by i.seq
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
    where b.environment_id = h.environment_id and b.late and b.accepted_at > _late_after
  );
  _environments := array(
    select u.environment_id from unnest(_environments) as u (environment_id) where not svc.is_frozen(u.environment_id)
  );
  perform svc.request_evaluation(_environments);
  return coalesce(cardinality(_environments), 0);
end;
$$;

comment on function svc_api.tick(text, interval) is
  'Heartbeat of a worker; unlocks the jobs of silent ones and asks for evaluation where time demands it.';
