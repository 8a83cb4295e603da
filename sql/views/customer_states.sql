create or replace view svc_inspect.customer_states as
select p.slug as project, e.name as environment, c.customer_id, svc.state_document(c.environment_id, c.customer_id) as state,
  o.slug as organization
from svc.customers as c
join svc.environments as e on e.environment_id = c.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.customer_states is 'The state document of every customer, as `svc customers inspect` shows it.';
comment on column svc_inspect.customer_states.project is 'Slug of the project.';
comment on column svc_inspect.customer_states.environment is 'test or live.';
comment on column svc_inspect.customer_states.customer_id is 'Customer id of the caller''s system.';
comment on column svc_inspect.customer_states.state is 'The state document.';
comment on column svc_inspect.customer_states.organization is 'Slug of the organization.';
