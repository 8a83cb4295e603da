-- Whether the session that runs a job of an environment should leave it to be claimed again: another organization's job waits, and the
-- environment's organization runs at least two more than that one. So one organization's jobs of hours do not hold all workers.
-- Raises nothing, locks nothing.
create or replace function svc_api.should_yield_job(environment_id integer)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _latest constant timestamptz := now() + interval '1 minute';
  _environments integer[];
  _next_attempts timestamptz[];
  _running bigint[];
begin
  -- First the jobs, then their organizations, as in svc_api.claim_job.
  select array_agg(q.environment_id), array_agg(q.next_attempt_at), array_agg(q.running)
  into _environments, _next_attempts, _running
  from (
    select
      r.environment_id,
      (array_agg(r.next_attempt_at order by r.recompute_seq))[1] as next_attempt_at,
      count(*) filter (where r.status = 'running') as running
    from svc.recomputes as r
    where r.status in ('queued', 'running', 'retrying')
    group by r.environment_id, svc.recompute_lane(r.kind)
  ) as q;

  return exists (
    with organizations as (
      select
        p.organization_id, sum(u.running) as running,
        bool_or(u.environment_id = should_yield_job.environment_id) as is_own,
        bool_or(u.running = 0 and (u.next_attempt_at between now() and _latest) is not true) as waits
      from unnest(_environments, _next_attempts, _running) as u (environment_id, next_attempt_at, running)
      join svc.environments as e on e.environment_id = u.environment_id
      join svc.projects as p on p.project_id = e.project_id
      group by p.organization_id
    )
    select
    from organizations as own
    join organizations as o on not o.is_own and o.waits and own.running >= o.running + 2
    where own.is_own
  );
end;
$$;

comment on function svc_api.should_yield_job(integer) is
  'Whether a running job should be left, for that of another organization.';
