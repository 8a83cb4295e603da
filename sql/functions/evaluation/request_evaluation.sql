-- Requests an evaluation of environments, unless an untaken job for it is visible. The job is looked for without a lock, so that
-- concurrent ingestion never queues on one row; if it is taken just before the caller's rows become visible, the worker searches again
-- shortly after (svc.may_have_missed_operations). A failed job whose next attempt is near counts, too: otherwise each call and each tick
-- would add another one while all of them fail.
-- Raises nothing, locks nothing.
create or replace function svc.request_evaluation(environment_ids integer[])
returns void
language sql
volatile
set search_path = ''
as $$
  select graphile_worker.add_job('evaluate', json_build_object('environmentId', e.environment_id), max_attempts => 25)
  from unnest(request_evaluation.environment_ids) as e (environment_id)
  where not exists (
    select 1
    from graphile_worker._private_jobs as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    where t.identifier = 'evaluate'
      and j.is_available
      and j.run_at <= now() + case when j.attempts > 0 then interval '20 seconds' else interval '0' end
      and (j.payload ->> 'environmentId')::integer = e.environment_id
  );
$$;

comment on function svc.request_evaluation(integer[]) is 'Enqueues an evaluate job per environment that has no untaken one.';
