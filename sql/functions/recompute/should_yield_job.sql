-- Whether the session that runs a job of an environment should leave it to be claimed again: another organization's job waits, and the
-- environment's organization runs at least two more than that one. So one organization's jobs of hours do not hold all workers.
-- Raises nothing, locks nothing.
create or replace function svc_api.should_yield_job(environment_id integer)
returns boolean
language sql
volatile
security definer
set search_path = ''
return exists (
  with organizations as (
    select
      sum(q.running) as running, bool_or(q.environment_id = should_yield_job.environment_id) as is_own,
      bool_or(q.running = 0 and q.is_due) as waits
    from svc.job_queues() as q
    group by q.organization_id
  )
  select
  from organizations as own
  join organizations as o on not o.is_own and o.waits and own.running >= o.running + 2
  where own.is_own
);

comment on function svc_api.should_yield_job(integer) is
  'Whether a running job should be left, for that of another organization.';
