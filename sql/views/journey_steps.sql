create or replace view svc_inspect.journey_steps as
select
  o.slug as organization, p.slug as project, e.name as environment, t.customer_id, t.journey_id as journey, t.run, t.started_at,
  s.key as step, s.position, (s.value ->> 'completedAt')::timestamptz as completed_at, s.value ->> 'triggeredBy' as triggered_by
from svc.journey_runs as t
cross join lateral json_each(t.steps) with ordinality as s (key, value, position)
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.journey_steps is 'Completed steps of journeys, one row for each run and step.';
comment on column svc_inspect.journey_steps.organization is 'Slug of the organization.';
comment on column svc_inspect.journey_steps.project is 'Slug of the project.';
comment on column svc_inspect.journey_steps.environment is 'test or live.';
comment on column svc_inspect.journey_steps.customer_id is 'The customer.';
comment on column svc_inspect.journey_steps.journey is 'The journey.';
comment on column svc_inspect.journey_steps.run is 'Counts from 1 for each customer and journey.';
comment on column svc_inspect.journey_steps.started_at is 'When the run started.';
comment on column svc_inspect.journey_steps.step is 'The step.';
comment on column svc_inspect.journey_steps.position is 'Its place among the completed steps of the run.';
comment on column svc_inspect.journey_steps.completed_at is 'When it was completed.';
comment on column svc_inspect.journey_steps.triggered_by is 'What completed it: the id of an event, identify or timer.';
