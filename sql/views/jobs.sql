create or replace view svc_inspect.jobs as
select
  j.job_id, j.task,
  case
    when j.locked_at is not null then 'running'
    when j.attempts >= j.max_attempts then 'failed'
    when j.attempts > 0 then 'retrying'
    when j.run_at > now() then 'scheduled'
    else 'ready'
  end as status,
  o.slug as organization, p.slug as project, e.name as environment, j.attempts, j.max_attempts, j.last_error, j.run_at, j.locked_at,
  j.locked_by, j.created_at
from svc.queued_jobs() as j
left join svc.environments as e on e.environment_id = j.environment_id
left join svc.projects as p on p.project_id = e.project_id
left join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.jobs is 'Jobs that wait for a worker, are running or failed for good. A finished job has no row.';
comment on column svc_inspect.jobs.job_id is 'Number of the job.';
comment on column svc_inspect.jobs.task is 'The task, for example evaluate.';
comment on column svc_inspect.jobs.status is
  'running; ready for any worker; scheduled for later; retrying after a failure; failed for good, after the last attempt.';
comment on column svc_inspect.jobs.organization is 'Slug of the organization; null if the job does not belong to one environment.';
comment on column svc_inspect.jobs.project is 'Slug of the project.';
comment on column svc_inspect.jobs.environment is 'test or live.';
comment on column svc_inspect.jobs.attempts is 'How often it was started.';
comment on column svc_inspect.jobs.max_attempts is 'The number of attempts after which it is given up.';
comment on column svc_inspect.jobs.last_error is 'Why the last attempt failed.';
comment on column svc_inspect.jobs.run_at is
  'When it is due. Of an evaluation that is ready: its place in the queue, in which organizations take turns.';
comment on column svc_inspect.jobs.locked_at is 'When a worker took it.';
comment on column svc_inspect.jobs.locked_by is 'The worker that runs it.';
comment on column svc_inspect.jobs.created_at is 'When it was created.';
