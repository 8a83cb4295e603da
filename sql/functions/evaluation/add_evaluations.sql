-- Adds evaluation jobs so that organizations take turns, however many environments they have. The place of a job among those of its
-- priority is its run_at, which is never later than now: in the round that is being served, or a round, written as a millisecond, after
-- the organization's last job. But it is never more rounds ahead than the organization has jobs, because one that is tried again after a
-- failure has a place by the time. The first round is a minute ago, so that there is room for many; so run_at is not when it was added.
-- Concurrent calls may give two jobs the same place. Raises nothing, locks nothing.
create or replace function svc.add_evaluations(environment_ids integer[], priority integer, job_key text default null)
returns void
language sql
volatile
set search_path = ''
as $$
  with jobs as materialized (
    select j.* from svc.evaluation_jobs() as j where j.priority = add_evaluations.priority
  ), organizations as (
    -- Jobs that are being done count, too: what follows them comes after those that wait.
    select j.organization_id, max(j.run_at) + interval '1 millisecond' as next_at, count(*) * interval '1 millisecond' as rounds
    from jobs as j
    group by j.organization_id
  ), round as (
    select coalesce(max(j.run_at) + interval '1 microsecond', now() - interval '1 minute') as next_at
    from jobs as j
    where j.is_available
      and j.run_at < (select min(w.run_at) from jobs as w where w.is_available) + interval '1 millisecond'
  )
  select graphile_worker.add_job(
    'evaluate', json_build_object('environmentId', e.environment_id),
    run_at => least(
      now(),
      greatest(r.next_at, least(o.next_at, r.next_at + o.rounds))
        + interval '1 millisecond' * (row_number() over (partition by p.organization_id order by e.environment_id) - 1)
    ),
    max_attempts => 25, job_key => add_evaluations.job_key, priority => add_evaluations.priority
  )
  from unnest(add_evaluations.environment_ids) as u (environment_id)
  join svc.environments as e on e.environment_id = u.environment_id
  join svc.projects as p on p.project_id = e.project_id
  cross join round as r
  left join organizations as o on o.organization_id = p.organization_id;
$$;

comment on function svc.add_evaluations(integer[], integer, text) is 'Adds evaluation jobs; organizations take turns.';
