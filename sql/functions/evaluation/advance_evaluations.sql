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
    select j.id, j.payload, j.priority, j.run_at, j.created_at
    from graphile_worker._private_jobs as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    where t.identifier = 'evaluate' and j.is_available and j.run_at <= now() and j.priority in (1, 10)
  ), first as (
    select j.priority, j.run_at
    from jobs as j
    order by j.priority, j.run_at
    limit 1
  ), nexts as (
    select distinct on (p.organization_id, j.priority) j.id, j.priority, j.run_at
    from jobs as j
    join svc.environments as e on e.environment_id = (j.payload ->> 'environmentId')::integer
    join svc.projects as p on p.project_id = e.project_id
    where j.created_at < now() - interval '1 second'
    order by p.organization_id, j.priority, j.run_at
  ), late as (
    select n.id, f.run_at + interval '1 millisecond' * row_number() over (order by n.priority, n.run_at, n.id) as run_at
    from nexts as n
    cross join first as f
    where n.priority > f.priority or n.run_at > f.run_at + interval '1 second'
    order by run_at
    limit 1000 -- as many rounds as that second has
  )
  select graphile_worker.reschedule_jobs(array[l.id], run_at => least(now(), l.run_at), priority => 1)
  from late as l;
$$;

comment on function svc.advance_evaluations() is 'Lets evaluations take their turn that would wait as long as others do.';
