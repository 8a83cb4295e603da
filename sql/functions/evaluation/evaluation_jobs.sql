-- The evaluation jobs of each organization that are due or being done, with their places in the queue (svc.add_evaluations); without those
-- that a program of an earlier release added.
-- Raises nothing, locks nothing.
create or replace function svc.evaluation_jobs()
returns table (
  job_id bigint, organization_id text, priority smallint, run_at timestamptz, created_at timestamptz, is_available boolean
)
language sql
stable
set search_path = ''
as $$
  select j.id, p.organization_id, j.priority, j.run_at, j.created_at, j.is_available
  from graphile_worker._private_jobs as j
  join graphile_worker._private_tasks as t on t.id = j.task_id
  join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
  join svc.projects as p on p.project_id = e.project_id
  where t.identifier = 'evaluate' and j.priority in (1, 10) and j.run_at <= now()
$$;

comment on function svc.evaluation_jobs() is 'The evaluation jobs that are due or being done, with their organizations.';
