create or replace view svc_inspect.deliveries as
select
  o.slug as organization, p.slug as project, e.name as environment, d.webhook_id, w.url, svc.emission_id(d.emission_seq) as emission_id,
  m.event_type, m.customer_id, m.created_at as emission_created_at, d.status, d.attempts,
  case when d.status = 'pending' then d.next_attempt_at end as next_attempt_at, d.finished_at,
  a.attempted_at as last_attempted_at, a.status_code as last_status_code, a.error as last_error, d.emission_seq,
  d.environment_id
from svc.deliveries as d
join svc.webhooks as w on w.environment_id = d.environment_id and w.webhook_id = d.webhook_id and w.deleted_at is null
join svc.environments as e on e.environment_id = d.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
join svc.emissions as m on m.environment_id = d.environment_id and m.emission_seq = d.emission_seq
left join svc.delivery_attempts as a
  on a.environment_id = d.environment_id and a.webhook_id = d.webhook_id and a.emission_seq = d.emission_seq and a.attempt = d.attempts;

comment on view svc_inspect.deliveries is 'Webhook deliveries, one row per webhook and emission, with the last attempt.';
comment on column svc_inspect.deliveries.organization is 'Slug of the organization.';
comment on column svc_inspect.deliveries.project is 'Slug of the project.';
comment on column svc_inspect.deliveries.environment is 'test or live.';
comment on column svc_inspect.deliveries.webhook_id is 'The webhook.';
comment on column svc_inspect.deliveries.url is 'The address it is delivered to.';
comment on column svc_inspect.deliveries.emission_id is 'The emission to deliver.';
comment on column svc_inspect.deliveries.event_type is 'Type of the emission.';
comment on column svc_inspect.deliveries.customer_id is 'Customer of the emission.';
comment on column svc_inspect.deliveries.emission_created_at is 'When the emission was written.';
comment on column svc_inspect.deliveries.status is 'pending, delivered or failed.';
comment on column svc_inspect.deliveries.attempts is 'Attempts made.';
comment on column svc_inspect.deliveries.next_attempt_at is 'When the next attempt is due; null when finished.';
comment on column svc_inspect.deliveries.finished_at is 'When it was delivered or given up.';
comment on column svc_inspect.deliveries.last_attempted_at is 'When the last attempt was made.';
comment on column svc_inspect.deliveries.last_status_code is 'HTTP status of the response to it.';
comment on column svc_inspect.deliveries.last_error is 'Why there was no response.';
comment on column svc_inspect.deliveries.emission_seq is 'As in svc_inspect.emissions; finds the deliveries of an emission by an index.';
comment on column svc_inspect.deliveries.environment_id is 'As in svc_inspect.environments; with it, an index serves their order.';
