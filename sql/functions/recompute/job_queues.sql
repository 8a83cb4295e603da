-- The queues of all environments that have unfinished jobs: whether the oldest job is due, and how many rows are those of running ones.
-- Attempts wait for a minute at most: a later one is from before the clock was set back.
-- Raises nothing, locks nothing.
create or replace function svc.job_queues()
returns table (environment_id integer, organization_id text, lane integer, is_due boolean, running bigint)
language plpgsql
stable
set search_path = ''
as $$
declare
  _latest constant timestamptz := now() + interval '1 minute';
  _environments integer[];
  _lanes integer[];
  _next_attempts timestamptz[];
  _running bigint[];
begin
  -- First the jobs, then their organizations: a cluster does not join both.
  select array_agg(q.environment_id), array_agg(q.lane), array_agg(q.next_attempt_at), array_agg(q.running)
  into _environments, _lanes, _next_attempts, _running
  from (
    select
      r.environment_id, svc.recompute_lane(r.kind) as lane,
      -- That of the oldest job.
      (array_agg(r.next_attempt_at order by r.recompute_seq))[1] as next_attempt_at,
      count(*) filter (where r.status = 'running') as running
    from svc.recomputes as r
    where r.status in ('queued', 'running', 'retrying')
    group by r.environment_id, svc.recompute_lane(r.kind)
  ) as q;

  return query
  select u.environment_id, p.organization_id, u.lane, (u.next_attempt_at between now() and _latest) is not true, u.running
  from unnest(_environments, _lanes, _next_attempts, _running) as u (environment_id, lane, next_attempt_at, running)
  join svc.environments as e on e.environment_id = u.environment_id
  join svc.projects as p on p.project_id = e.project_id;
end;
$$;

comment on function svc.job_queues() is 'The queues that have unfinished jobs, with their organizations.';
