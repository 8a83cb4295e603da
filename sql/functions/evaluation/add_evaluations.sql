-- Adds evaluation jobs so that organizations take turns, however many environments they have. The place of a job among those of its
-- priority is its run_at, which is never later than now: in the round that is being served, or a round, written as a millisecond, after
-- the organization's last job. But it is never more rounds ahead than the organization has jobs, because one that is tried again after a
-- failure has a place by the time. The first round is a minute ago, so that there is room for many; so run_at is not when it was added.
-- Concurrent calls may give two jobs the same place. Raises nothing, locks nothing.
create or replace function svc.add_evaluations(environment_ids integer[], priority integer, job_key text default null)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _task_id constant integer := (select t.id from graphile_worker._private_tasks as t where t.identifier = 'evaluate');
  _first_at timestamptz;
  _round_at timestamptz := now() - interval '1 minute';
  -- All environments of the organizations concerned.
  _organizations text[];
  _environments integer[];
begin
  select j.run_at into _first_at
  from graphile_worker._private_jobs as j
  where j.is_available and j.priority = add_evaluations.priority and j.task_id = _task_id
  order by j.run_at
  limit 1;
  if _first_at <= now() then
    select j.run_at + interval '1 microsecond' into _round_at
    from graphile_worker._private_jobs as j
    where j.is_available and j.priority = add_evaluations.priority and j.task_id = _task_id
      and j.run_at < _first_at + interval '1 millisecond' and j.run_at <= now()
    order by j.run_at desc
    limit 1;
  end if;

  select array_agg(p.organization_id), array_agg(o.environment_id) into _organizations, _environments
  from svc.projects as p
  join svc.environments as o on o.project_id = p.project_id
  where p.organization_id in (
    select q.organization_id
    from svc.environments as e
    join svc.projects as q on q.project_id = e.project_id
    where e.environment_id = any(add_evaluations.environment_ids)
  );
  perform graphile_worker.add_job(
    'evaluate', json_build_object('environmentId', e.environment_id),
    run_at => least(
      now(),
      greatest(_round_at, least(o.next_at, _round_at + o.rounds))
        + interval '1 millisecond' * (row_number() over (partition by e.organization_id order by e.environment_id) - 1)
    ),
    max_attempts => 25, job_key => add_evaluations.job_key, priority => add_evaluations.priority
  )
  from unnest(_organizations, _environments) as e (organization_id, environment_id)
  left join (
    -- Jobs that are being done count, too: what follows them comes after those that wait.
    select w.organization_id, max(j.run_at) + interval '1 millisecond' as next_at, count(*) * interval '1 millisecond' as rounds
    from graphile_worker._private_jobs as j
    join unnest(_organizations, _environments) as w (organization_id, environment_id)
      on w.environment_id = (j.payload ->> 'environmentId')::integer
    where j.task_id = _task_id and j.priority = add_evaluations.priority and j.run_at <= now()
    group by w.organization_id
  ) as o on o.organization_id = e.organization_id
  where e.environment_id = any(add_evaluations.environment_ids);
end;
$$;

comment on function svc.add_evaluations(integer[], integer, text) is 'Adds evaluation jobs; organizations take turns.';
