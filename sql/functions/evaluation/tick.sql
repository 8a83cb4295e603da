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

  -- One index probe per environment and kind of work; the order keeps the first from reading all that wait.
  select array_agg(e.environment_id) into _environments
  from svc.environments as e
  where (
    select true
    from svc.inbox as i
    where i.environment_id = e.environment_id and i.not_before is null
    order by i.seq
    limit 1
  ) or exists (
    select 1
    from svc.due_customers(
      e.environment_id,
      now(),
      not exists (
        select 1
        from svc.ingest_batches as b
        where b.environment_id = e.environment_id and b.late and b.accepted_at > now() - tick.settle
      ),
      1
    )
  );
  perform svc.request_evaluation(_environments);
  return coalesce(cardinality(_environments), 0);
end;
$$;

comment on function svc_api.tick(text, interval) is
  'Heartbeat of a worker; unlocks the jobs of silent ones and asks for evaluation where time demands it.';
