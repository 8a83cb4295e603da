create or replace view svc_inspect.schema_violations as
select
  o.slug as organization, p.slug as project, e.name as environment, 'v' || v.version as version, nullif(v.event, '') as event, v.code,
  v.path, v.operations, v.first_seen_at, v.last_seen_at,
  case when v.event <> '' or l.event_seq is not null then svc.event_id(v.last_seq) end as last_event_id,
  coalesce(l.customer_id, t.customer_id) as last_customer_id
from svc.schema_violations as v
join svc.environments as e on e.environment_id = v.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
left join svc.events as l on l.environment_id = v.environment_id and l.event_seq = v.last_seq
left join svc.trait_updates as t on t.environment_id = v.environment_id and t.operation_seq = v.last_seq;

comment on view svc_inspect.schema_violations is 'How accepted operations violated a schema that is not strict, one row per kind.';
comment on column svc_inspect.schema_violations.organization is 'Slug of the organization.';
comment on column svc_inspect.schema_violations.project is 'Slug of the project.';
comment on column svc_inspect.schema_violations.environment is 'test or live.';
comment on column svc_inspect.schema_violations.version is 'The configuration version whose schema was violated: v1, v2, ….';
comment on column svc_inspect.schema_violations.event is 'The event name that was sent; null for traits.';
comment on column svc_inspect.schema_violations.code is
  'The diagnostic code, for example INVALID_PROPERTY_TYPE; OTHER for all beyond 1,000 kinds of a version.';
comment on column svc_inspect.schema_violations.path is 'Where in the operation, without array positions; * for OTHER.';
comment on column svc_inspect.schema_violations.operations is
  'Number of stored operations with this violation, at least: in a call with thousands of violations not all are counted.';
comment on column svc_inspect.schema_violations.first_seen_at is 'When the first of them was accepted.';
comment on column svc_inspect.schema_violations.last_seen_at is 'When the last of them was accepted.';
comment on column svc_inspect.schema_violations.last_event_id is 'Public id of the last of them; null for an identify.';
comment on column svc_inspect.schema_violations.last_customer_id is 'Customer of the last of them; null if it is no longer stored.';
