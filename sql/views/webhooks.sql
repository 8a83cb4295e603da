create or replace view svc_inspect.webhooks as
select
  o.slug as organization, p.slug as project, e.name as environment, w.webhook_id, w.url, w.event_types, w.max_event_age,
  w.max_concurrency, w.max_per_second,
  case when w.previous_secret_expires_at > now() then w.previous_secret_expires_at end as previous_secret_expires_at, w.failing_since,
  w.disabled_at, w.disabled_reason, w.created_at, w.include, w.format
from svc.webhooks as w
join svc.environments as e on e.environment_id = w.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
where w.deleted_at is null;

comment on view svc_inspect.webhooks is 'Endpoints that receive emissions, without their secrets.';
comment on column svc_inspect.webhooks.organization is 'Slug of the organization.';
comment on column svc_inspect.webhooks.project is 'Slug of the project.';
comment on column svc_inspect.webhooks.environment is 'test or live.';
comment on column svc_inspect.webhooks.webhook_id is 'Public id.';
comment on column svc_inspect.webhooks.url is 'Address that deliveries are posted to.';
comment on column svc_inspect.webhooks.event_types is 'Types to deliver; a trailing * matches any ending.';
comment on column svc_inspect.webhooks.max_event_age is
  'How far back a change may lie when it is emitted, for example 7d; null for no limit.';
comment on column svc_inspect.webhooks.max_concurrency is 'Maximum number of deliveries in progress at once.';
comment on column svc_inspect.webhooks.max_per_second is 'Maximum number of deliveries started per second; null for no limit.';
comment on column svc_inspect.webhooks.previous_secret_expires_at is
  'When the secret before the last rotation stops signing; null if only one secret signs.';
comment on column svc_inspect.webhooks.failing_since is 'When attempts began to fail without a success since; null while they succeed.';
comment on column svc_inspect.webhooks.disabled_at is 'When it was disabled; nothing is delivered since then.';
comment on column svc_inspect.webhooks.disabled_reason is 'Why it was disabled.';
comment on column svc_inspect.webhooks.created_at is 'When it was created; only later emissions are delivered.';
comment on column svc_inspect.webhooks.include is 'Additional parts of the customer in each delivery; empty for none.';
comment on column svc_inspect.webhooks.format is 'Format of a delivery: json, slack or teams.';
