create or replace view svc_inspect.blocked_transitions as
select p.slug as project, e.name as environment, t.customer_id, t.from_state, t.to_state, t.blocked_at, o.slug as organization
from svc.blocked_transitions as t
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.blocked_transitions is
  'Lifecycle transitions prevented: the customer had been in the target state at the same instant, or time alone had moved it 1,000 times.';
comment on column svc_inspect.blocked_transitions.project is 'Slug of the project.';
comment on column svc_inspect.blocked_transitions.environment is 'test or live.';
comment on column svc_inspect.blocked_transitions.customer_id is 'The customer.';
comment on column svc_inspect.blocked_transitions.from_state is 'The state that was not left.';
comment on column svc_inspect.blocked_transitions.to_state is 'The state that was not entered.';
comment on column svc_inspect.blocked_transitions.blocked_at is 'The last instant at which it was blocked.';
comment on column svc_inspect.blocked_transitions.organization is 'Slug of the organization.';
