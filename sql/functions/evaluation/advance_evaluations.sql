-- Lets one job of each organization take its turn soon where others always wait and would otherwise keep it from being done: work that was
-- left, behind environments with little work; and what came in far behind the round that is being served, because it is tried again after a
-- failure, or was added before the clock was set back. Their places are a round apart, so that what is requested meanwhile waits for one.
-- Every worker calls it once a second. Raises nothing. Locks the jobs that it changes; skips those being done.
create or replace function svc.advance_evaluations()
returns void
language sql
volatile
set search_path = ''
as $$
  with jobs as materialized (
    select j.id as job_id, p.organization_id, j.priority, j.run_at, j.created_at
    from graphile_worker._private_jobs as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
    join svc.projects as p on p.project_id = e.project_id
    -- Others were added by a program of an earlier release, without a place.
    where t.identifier = 'evaluate' and j.is_available and j.priority in (1, 10) and j.run_at <= now()
  ), first as (
    select j.priority, j.run_at
    from jobs as j
    order by j.priority, j.run_at
    limit 1
  ), nexts as (
    select distinct on (j.organization_id, j.priority) j.job_id, j.priority, j.run_at
    from jobs as j
    where j.created_at < now() - interval '1 second'
    order by j.organization_id, j.priority, j.run_at
  ), late as (
    select n.job_id, f.run_at + interval '1 millisecond' * row_number() over (order by n.priority, n.run_at, n.job_id) as run_at
    from nexts as n
    cross join first as f
    where n.priority > f.priority or n.run_at > f.run_at + interval '1 second'
    order by run_at
    limit 1000 -- as many rounds as that second has
  )
  select graphile_worker.reschedule_jobs(array[l.job_id], run_at => least(now(), l.run_at), priority => 1)
  from late as l;
$$;

comment on function svc.advance_evaluations() is 'Lets evaluations take their turn that would wait as long as others do.';
