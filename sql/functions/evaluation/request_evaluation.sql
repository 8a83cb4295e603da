-- Requests an evaluation of environments, unless an untaken job for it is visible. The job is looked for without a lock, so that
-- concurrent ingestion never queues on one row; if it is taken just before the caller's rows become visible, the worker searches again
-- shortly after (svc.may_have_missed_operations). A failed job whose next attempt is near counts, too: otherwise each call and each tick
-- would add another one while all of them fail.
-- Raises nothing, locks nothing.
create or replace function svc.request_evaluation(environment_ids integer[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _without_job constant integer[] := array(
    select e.environment_id
    from unnest(request_evaluation.environment_ids) as e (environment_id)
    where not exists (
      select 1
      from graphile_worker._private_jobs as j
      join graphile_worker._private_tasks as t on t.id = j.task_id
      where t.identifier = 'evaluate'
        and j.is_available
        and j.run_at <= now() + case when j.attempts > 0 then interval '20 seconds' else interval '0' end
        and (j.payload ->> 'environmentId')::integer = e.environment_id
    )
  );
begin
  if _without_job <> '{}' then
    -- Ahead of svc_api.continue_evaluation, and behind other tasks: the places of evaluations are earlier than when these were added.
    perform svc.add_evaluations(_without_job, 1);
  end if;
end;
$$;

comment on function svc.request_evaluation(integer[]) is 'Enqueues an evaluate job per environment that has no untaken one.';
