create or replace view svc_inspect.events as
select
  p.slug as project, e.name as environment, svc.event_id(v.event_seq) as event_id, v.customer_id, v.event, v.properties, v.occurred_at,
  v.accepted_at, v.idempotency_key,
  case when i.seq is null then 'processed' else 'pending' end as status, v.event_seq, o.slug as organization,
  v.environment_id
from svc.events as v
join svc.environments as e on e.environment_id = v.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
left join svc.inbox as i on i.environment_id = v.environment_id and i.customer_id = v.customer_id and i.seq = v.event_seq;

comment on view svc_inspect.events is 'Accepted events, and whether they have been evaluated.';
comment on column svc_inspect.events.project is 'Slug of the project.';
comment on column svc_inspect.events.environment is 'test or live.';
comment on column svc_inspect.events.event_id is 'Public id; sorts in order of acceptance.';
comment on column svc_inspect.events.customer_id is 'The customer.';
comment on column svc_inspect.events.event is 'Event name.';
comment on column svc_inspect.events.properties is 'Event properties.';
comment on column svc_inspect.events.occurred_at is 'When it happened.';
comment on column svc_inspect.events.accepted_at is 'When it was accepted.';
comment on column svc_inspect.events.idempotency_key is 'The sender''s key; null if the event was sent without one.';
comment on column svc_inspect.events.status is 'pending until it is evaluated, then processed.';
comment on column svc_inspect.events.event_seq is
  'The number in the event''s id: `where event_seq = svc_inspect.event_seq(''evt_…'')` finds one event by the primary key.';
comment on column svc_inspect.events.organization is 'Slug of the organization.';
comment on column svc_inspect.events.environment_id is 'As in svc_inspect.environments; with it, an index serves their order.';
