create or replace view svc_inspect.signals as
select
  p.slug as project, e.name as environment, t.customer_id, t.signal_id as signal, t.severity, t.message, t.raised_at, t.cleared_at,
  o.slug as organization
from svc.signals as t
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.signals is 'Each signal of each customer: raised now, or its last raise.';
comment on column svc_inspect.signals.project is 'Slug of the project.';
comment on column svc_inspect.signals.environment is 'test or live.';
comment on column svc_inspect.signals.customer_id is 'The customer.';
comment on column svc_inspect.signals.signal is 'The signal.';
comment on column svc_inspect.signals.severity is 'info, warning or critical.';
comment on column svc_inspect.signals.message is 'The message of the signal.';
comment on column svc_inspect.signals.raised_at is 'When it was raised.';
comment on column svc_inspect.signals.cleared_at is 'When it was cleared; null while it is raised.';
comment on column svc_inspect.signals.organization is 'Slug of the organization.';
