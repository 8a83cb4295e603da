create or replace view svc_inspect.api_keys as
select
  o.slug as organization, p.slug as project, e.name as environment, k.api_key_id, k.name, k.hint,
  case when k.revoked_at <= now() then 'revoked' when k.revoked_at is not null then 'expiring' else 'active' end as status,
  k.created_by, k.created_at, nullif(u.refilled_at, k.created_at) as last_used_at, k.revoked_at,
  case when u.month = svc.month_of(now()) then u.month_events else 0 end as month_events
from svc.api_keys as k
join svc.key_usage as u on u.key_hash = k.key_hash
join svc.environments as e on e.environment_id = k.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.api_keys is 'Ingestion keys and their use.';
comment on column svc_inspect.api_keys.organization is 'Slug of the organization.';
comment on column svc_inspect.api_keys.project is 'Slug of the project.';
comment on column svc_inspect.api_keys.environment is 'test or live.';
comment on column svc_inspect.api_keys.api_key_id is 'Public id.';
comment on column svc_inspect.api_keys.name is 'What the key is for.';
comment on column svc_inspect.api_keys.hint is 'Its first characters.';
comment on column svc_inspect.api_keys.status is 'active; expiring in the grace period of a rotation; revoked.';
comment on column svc_inspect.api_keys.created_by is 'Who created it.';
comment on column svc_inspect.api_keys.created_at is 'When it was created.';
comment on column svc_inspect.api_keys.last_used_at is 'When a call with it was last accepted; null if never.';
comment on column svc_inspect.api_keys.revoked_at is 'The instant from which it is refused; null if never.';
comment on column svc_inspect.api_keys.month_events is 'Events stored with it in this calendar month (UTC).';
