create or replace view svc_inspect.lifecycle_transitions as
select
  p.slug as project, e.name as environment, t.customer_id, t.from_state, t.to_state, t.transitioned_at, t.cause_type, t.cause_id,
  'v' || t.config_version as config_version, t.transition_seq, o.slug as organization
from svc.lifecycle_transitions as t
-- A recompute replaces a customer's history: only rows of the current generation count.
join svc.customers as c
  on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.lifecycle_transitions is 'Lifecycle transitions in each customer''s current history.';
comment on column svc_inspect.lifecycle_transitions.project is 'Slug of the project.';
comment on column svc_inspect.lifecycle_transitions.environment is 'test or live.';
comment on column svc_inspect.lifecycle_transitions.customer_id is 'The customer.';
comment on column svc_inspect.lifecycle_transitions.from_state is 'State left; null for the first.';
comment on column svc_inspect.lifecycle_transitions.to_state is 'State entered.';
comment on column svc_inspect.lifecycle_transitions.transitioned_at is 'The instant of the transition.';
comment on column svc_inspect.lifecycle_transitions.cause_type is 'event, identify, timer or job.';
comment on column svc_inspect.lifecycle_transitions.cause_id is 'Id of the event or job.';
comment on column svc_inspect.lifecycle_transitions.config_version is 'The version it was evaluated under.';
comment on column svc_inspect.lifecycle_transitions.transition_seq is 'Order of the transitions of a customer.';
comment on column svc_inspect.lifecycle_transitions.organization is 'Slug of the organization.';
