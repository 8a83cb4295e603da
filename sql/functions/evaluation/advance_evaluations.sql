-- Lets one job of each organization that left work take its turn among those of environments with little work, if these always wait: a
-- flood of them would otherwise keep it from being done. Their places are a round apart, so that what is requested meanwhile waits for one.
-- Every worker calls it once a second. Raises nothing. Locks the jobs that it changes; skips those being done.
create or replace function svc.advance_evaluations()
returns void
language sql
volatile
set search_path = ''
as $$
  with jobs as materialized (
    select j.id, j.payload, j.priority, j.run_at, j.created_at
    from graphile_worker._private_jobs as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    where t.identifier = 'evaluate' and j.is_available and j.run_at <= now()
  ), first_requested as (
    select min(j.run_at) as run_at
    from jobs as j
    where j.priority = 1
  ), oldest as (
    select distinct on (p.organization_id) j.id, j.run_at
    from jobs as j
    join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
    join svc.projects as p on p.project_id = e.project_id
    where j.priority = 10 and j.created_at < now() - interval '1 second'
    order by p.organization_id, j.run_at
  )
  select graphile_worker.reschedule_jobs(
    array[o.id],
    run_at => least(now(), f.run_at + interval '1 millisecond' * row_number() over (order by o.run_at)),
    priority => 1
  )
  from oldest as o
  cross join first_requested as f
  where f.run_at is not null;
$$;

comment on function svc.advance_evaluations() is 'Lets work that was left take its turn although other work always waits.';
