create or replace view svc_inspect.delivery_attempts as
select
  o.slug as organization, p.slug as project, e.name as environment, a.webhook_id, w.url, svc.emission_id(a.emission_seq) as emission_id,
  a.attempt, a.attempted_at, a.latency_ms, a.status_code, a.error, a.response, a.emission_seq, a.environment_id
from svc.delivery_attempts as a
join svc.webhooks as w on w.environment_id = a.environment_id and w.webhook_id = a.webhook_id and w.deleted_at is null
join svc.environments as e on e.environment_id = a.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.delivery_attempts is 'Webhook delivery attempts that are still stored, with their outcomes.';
comment on column svc_inspect.delivery_attempts.organization is 'Slug of the organization.';
comment on column svc_inspect.delivery_attempts.project is 'Slug of the project.';
comment on column svc_inspect.delivery_attempts.environment is 'test or live.';
comment on column svc_inspect.delivery_attempts.webhook_id is 'The webhook.';
comment on column svc_inspect.delivery_attempts.url is 'The address of the webhook today.';
comment on column svc_inspect.delivery_attempts.emission_id is 'The emission sent.';
comment on column svc_inspect.delivery_attempts.attempt is 'Counts from 1.';
comment on column svc_inspect.delivery_attempts.attempted_at is 'When the request was sent.';
comment on column svc_inspect.delivery_attempts.latency_ms is 'Milliseconds until the response or the failure.';
comment on column svc_inspect.delivery_attempts.status_code is 'HTTP status of the response.';
comment on column svc_inspect.delivery_attempts.error is 'Why there was no response.';
comment on column svc_inspect.delivery_attempts.response is 'First KiB of the response.';
comment on column svc_inspect.delivery_attempts.emission_seq is
  'As in svc_inspect.emissions; finds the attempts of an emission by an index.';
comment on column svc_inspect.delivery_attempts.environment_id is 'As in svc_inspect.environments; with it, an index serves their order.';
