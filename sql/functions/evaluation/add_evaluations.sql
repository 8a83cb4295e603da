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
-- Force index scans in order, whatever the statistics say; also where graphile-worker's function looks for the key.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
-- Planning takes ten times as long as the work.
set plan_cache_mode = force_generic_plan
as $$
declare
  _task_id constant integer := (select t.id from graphile_worker._private_tasks as t where t.identifier = 'evaluate');
  _first_at timestamptz;
  _round_at timestamptz := now() - interval '1 minute';
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

  perform graphile_worker.add_job(
    'evaluate', json_build_object('environmentId', e.environment_id),
    run_at => least(
      now(),
      greatest(_round_at, least(o.next_at, _round_at + o.rounds))
        + interval '1 millisecond' * (row_number() over (partition by e.organization_id order by e.environment_id) - 1)
    ),
    max_attempts => 25,
    -- Random, because calls that add the same key wait for each other.
    job_key => coalesce(
      add_evaluations.job_key, svc.evaluation_key(e.organization_id, e.environment_id, 1 + floor(random() * 1e14)::bigint)
    ),
    priority => add_evaluations.priority
  )
  from (
    select p.organization_id, array_agg(e.environment_id) as environment_ids
    from unnest(add_evaluations.environment_ids) as u (environment_id)
    join svc.environments as e on e.environment_id = u.environment_id
    join svc.projects as p on p.project_id = e.project_id
    group by p.organization_id
  ) as g
  cross join lateral (
    -- Jobs that are being done count, too: what follows them comes after those that wait.
    select max(j.run_at) + interval '1 millisecond' as next_at, count(*) * interval '1 millisecond' as rounds
    from graphile_worker._private_jobs as j
    where j.key between svc.evaluation_key(g.organization_id, 0, 0)
        and svc.evaluation_key(g.organization_id, 2147483647, 999999999999999)
      and j.priority = add_evaluations.priority and j.run_at <= now()
  ) as o
  cross join lateral (select g.organization_id, u.environment_id from unnest(g.environment_ids) as u (environment_id)) as e;
end;
$$;

comment on function svc.add_evaluations(integer[], integer, text) is 'Adds evaluation jobs; organizations take turns.';
