create or replace view svc_inspect.quarantined_operations as
select
  o.slug as organization, p.slug as project, e.name as environment, svc.quarantined_id(q.seq) as quarantine_id,
  nullif(q.customer_id, '') as customer_id, nullif(q.event, '') as event, coalesce(q.call, q.operation) as operation,
  q.idempotency_key, q.quarantined_at, 'v' || nullif(q.version, 0) as version, q.code, q.message, q.path, q.violations
from svc.quarantined_operations as q
join svc.environments as e on e.environment_id = q.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.quarantined_operations is
  'Operations that were accepted although they violate the schema, and wait to be released or discarded.';
comment on column svc_inspect.quarantined_operations.organization is 'Slug of the organization.';
comment on column svc_inspect.quarantined_operations.project is 'Slug of the project.';
comment on column svc_inspect.quarantined_operations.environment is 'test or live.';
comment on column svc_inspect.quarantined_operations.quarantine_id is 'Public id; sorts in order of acceptance.';
comment on column svc_inspect.quarantined_operations.customer_id is 'The customer.';
comment on column svc_inspect.quarantined_operations.event is 'Event name; null for an identify.';
comment on column svc_inspect.quarantined_operations.operation is 'The operation as sent.';
comment on column svc_inspect.quarantined_operations.idempotency_key is 'The sender''s key; null if it was sent without one.';
comment on column svc_inspect.quarantined_operations.quarantined_at is 'When it was accepted.';
comment on column svc_inspect.quarantined_operations.version is 'The version whose schema it was last checked against: v1, v2, ….';
comment on column svc_inspect.quarantined_operations.code is 'Code of the first violation.';
comment on column svc_inspect.quarantined_operations.message is 'Message of the first violation.';
comment on column svc_inspect.quarantined_operations.path is 'Where in the operation the first violation is.';
comment on column svc_inspect.quarantined_operations.violations is 'The first twenty violations, each {code, message, path}.';
