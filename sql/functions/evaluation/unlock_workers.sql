-- Frees the jobs of workers that ended without finishing them. The environments that they were evaluating become suspected: one of them
-- may be what ended the worker.
-- Raises nothing. Locks the jobs' rows.
create or replace function svc.unlock_workers(worker_ids text[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform svc_api.suspect_environment(e.environment_id, 'The worker ended during an evaluation of this environment.')
  from (
    select distinct (j.payload ->> 'environmentId')::integer as environment_id
    from graphile_worker._private_jobs as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    where j.locked_by = any(unlock_workers.worker_ids) and t.identifier = 'evaluate'
  ) as e
  order by e.environment_id;
  perform graphile_worker.force_unlock_workers(unlock_workers.worker_ids);
end;
$$;

comment on function svc.unlock_workers(text[]) is 'Frees the jobs of workers that ended without finishing them.';
