-- The heartbeat of a worker: marks it as alive, unlocks the jobs of workers without a recent heartbeat, and queues periodic jobs. It reads
-- nothing of environments, so that it works when a node of a cluster is down.
-- Every worker calls it; concurrent calls do no harm. Raises nothing. Locks nothing for long.
create or replace function svc_api.heartbeat(worker_id text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _silent text[];
begin
  insert into svc.workers as w (worker_id)
  values (heartbeat.worker_id)
  on conflict (worker_id) do update
  set seen_at = now();

  -- Written before the clock was set back, by a worker that is dead or writes the next one within a second.
  update svc.workers as w
  set seen_at = now()
  where w.worker_id in (
    select s.worker_id from svc.workers as s where s.seen_at > now() + interval '30 seconds' for update skip locked
  );
  delete from svc.workers as w
  where w.worker_id in (
    select s.worker_id from svc.workers as s where s.seen_at < now() - interval '30 seconds' for update skip locked
  );
  -- Not only those just deleted: a worker may have been killed before its first heartbeat, or between the two statements.
  select array_agg(distinct j.locked_by) into _silent
  from graphile_worker.jobs as j
  -- Only the service's tasks: another application may have jobs in the same schema, and its workers have no heartbeat here.
  where j.task_identifier in (
    'count_trends', 'evaluate', 'recompute', 'sweep_iam', 'sweep_recomputes', 'sweep_retention', 'sweep_webhooks'
  )
    and j.locked_by is not null
    and not svc.is_alive(j.locked_at)
    and not exists (select 1 from svc.workers as w where w.worker_id = j.locked_by);
  if _silent is not null then
    perform svc.unlock_workers(_silent);
  end if;
  perform svc.schedule_jobs();
end;
$$;

comment on function svc_api.heartbeat(text) is 'Heartbeat of a worker; unlocks the jobs of silent ones, and queues periodic jobs.';
