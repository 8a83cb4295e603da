create or replace view svc_inspect.emissions as
select
  p.slug as project, e.name as environment, svc.emission_id(m.emission_seq) as emission_id, m.customer_id, m.event_type, m.source,
  m.metadata, m.emitted_at, m.cause_type, m.cause_id, 'v' || m.config_version as config_version, m.created_at, o.slug as organization,
  m.emission_seq, m.environment_id
from svc.emissions as m
join svc.environments as e on e.environment_id = m.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.emissions is 'Changes and events that evaluation emitted, for timelines and webhooks.';
comment on column svc_inspect.emissions.project is 'Slug of the project.';
comment on column svc_inspect.emissions.environment is 'test or live.';
comment on column svc_inspect.emissions.emission_id is 'Public id, the webhook-id of deliveries; those of a customer sort in order.';
comment on column svc_inspect.emissions.customer_id is 'The customer.';
comment on column svc_inspect.emissions.event_type is 'For example customer.activated or segment.entered.';
comment on column svc_inspect.emissions.source is 'The part of the model that emitted it: lifecycle, segment, ….';
comment on column svc_inspect.emissions.metadata is 'Details; the members depend on the type.';
comment on column svc_inspect.emissions.emitted_at is 'The instant of the change.';
comment on column svc_inspect.emissions.cause_type is 'event, identify, timer or job.';
comment on column svc_inspect.emissions.cause_id is 'Id of the event or job.';
comment on column svc_inspect.emissions.config_version is 'The version it was evaluated under.';
comment on column svc_inspect.emissions.created_at is 'When it was written.';
comment on column svc_inspect.emissions.organization is 'Slug of the organization.';
comment on column svc_inspect.emissions.emission_seq is
  'The number in the emission''s id: `where emission_seq = svc_inspect.emission_seq(''emi_…'')` finds one emission by an index.';
comment on column svc_inspect.emissions.environment_id is 'As in svc_inspect.environments; with it, an index serves their order.';
