create or replace view svc_inspect.journey_runs as
select
  p.slug as project, e.name as environment, t.customer_id, t.journey_id as journey, t.run, t.status, t.current_step, t.steps,
  t.started_at, t.completed_at, t.expired_at, o.slug as organization
from svc.journey_runs as t
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.journey_runs is 'Every run of a journey by a customer.';
comment on column svc_inspect.journey_runs.project is 'Slug of the project.';
comment on column svc_inspect.journey_runs.environment is 'test or live.';
comment on column svc_inspect.journey_runs.customer_id is 'The customer.';
comment on column svc_inspect.journey_runs.journey is 'The journey.';
comment on column svc_inspect.journey_runs.run is 'Counts from 1 for each customer and journey; the last one is the current run.';
comment on column svc_inspect.journey_runs.status is 'active, complete or expired.';
comment on column svc_inspect.journey_runs.current_step is 'The first step not completed; the last step when complete.';
comment on column svc_inspect.journey_runs.steps is 'The completed steps by id, with when and by what each was completed.';
comment on column svc_inspect.journey_runs.started_at is 'When the run started.';
comment on column svc_inspect.journey_runs.completed_at is 'When the last step was completed.';
comment on column svc_inspect.journey_runs.expired_at is 'When the run ran out of time.';
comment on column svc_inspect.journey_runs.organization is 'Slug of the organization.';
