-- The jobs of graphile-worker's queue, for svc_inspect.jobs. A function rather than a part of the view, because a view would keep
-- graphile-worker's own migrations from changing the tables that it reads.
-- Raises nothing, locks nothing.
create or replace function svc.queued_jobs()
returns table (
  job_id bigint,
  task text,
  environment_id integer,
  attempts integer,
  max_attempts integer,
  last_error text,
  run_at timestamptz,
  locked_at timestamptz,
  locked_by text,
  created_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select
    j.id::bigint, t.identifier::text, (j.payload ->> 'environmentId')::integer, j.attempts::integer, j.max_attempts::integer, j.last_error,
    j.run_at, j.locked_at, j.locked_by, j.created_at
  from graphile_worker._private_jobs as j
  join graphile_worker._private_tasks as t on t.id = j.task_id
$$;

comment on function svc.queued_jobs() is 'The jobs of the queue, for svc_inspect.jobs.';
