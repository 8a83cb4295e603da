create or replace view svc_inspect.customers as
select
  p.slug as project, e.name as environment, c.customer_id, c.lifecycle, c.lifecycle_entered_at,
  (c.health ->> 'overall')::numeric as health, c.health ->> 'band' as health_band, c.traits, c.created_at, c.last_event_at,
  c.evaluated_through, c.next_due_at, 'v' || c.config_version as config_version, c.set_aside_at, c.set_aside_error, o.slug as organization
from svc.customers as c
join svc.environments as e on e.environment_id = c.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.customers is 'Customers and their current state, one row each.';
comment on column svc_inspect.customers.project is 'Slug of the project.';
comment on column svc_inspect.customers.environment is 'test or live.';
comment on column svc_inspect.customers.customer_id is 'The customer''s id in the sender''s system.';
comment on column svc_inspect.customers.lifecycle is 'Current lifecycle state; null if the model has no lifecycle.';
comment on column svc_inspect.customers.lifecycle_entered_at is 'When that state was entered.';
comment on column svc_inspect.customers.health is 'Overall health score; null if there is none.';
comment on column svc_inspect.customers.health_band is 'The band of that score.';
comment on column svc_inspect.customers.traits is 'Current traits.';
comment on column svc_inspect.customers.created_at is 'When the first operation of the customer was accepted.';
comment on column svc_inspect.customers.last_event_at is 'Latest time at which an event of the customer occurred.';
comment on column svc_inspect.customers.evaluated_through is 'The latest instant through which the customer was evaluated.';
comment on column svc_inspect.customers.next_due_at is 'The earliest instant at which the state can change without a new operation.';
comment on column svc_inspect.customers.config_version is 'The version under which the state was last evaluated.';
comment on column svc_inspect.customers.set_aside_at is 'When evaluation was given up.';
comment on column svc_inspect.customers.set_aside_error is 'Why it was given up.';
comment on column svc_inspect.customers.organization is 'Slug of the organization.';
