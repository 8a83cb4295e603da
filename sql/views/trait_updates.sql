create or replace view svc_inspect.trait_updates as
select
  o.slug as organization, p.slug as project, e.name as environment, u.customer_id, u.traits, u.accepted_at, u.operation_seq,
  case when i.seq is null then 'processed' else 'pending' end as status
from svc.trait_updates as u
join svc.environments as e on e.environment_id = u.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
left join svc.inbox as i
  on i.environment_id = u.environment_id and i.customer_id = u.customer_id and i.seq = u.operation_seq;

comment on view svc_inspect.trait_updates is 'Accepted identify operations.';
comment on column svc_inspect.trait_updates.organization is 'Slug of the organization.';
comment on column svc_inspect.trait_updates.project is 'Slug of the project.';
comment on column svc_inspect.trait_updates.environment is 'test or live.';
comment on column svc_inspect.trait_updates.customer_id is 'The customer.';
comment on column svc_inspect.trait_updates.traits is 'Traits to merge by key; null removes one.';
comment on column svc_inspect.trait_updates.accepted_at is 'When it was accepted.';
comment on column svc_inspect.trait_updates.operation_seq is 'Order of acceptance, shared with the events.';
comment on column svc_inspect.trait_updates.status is 'processed, or pending while it waits for evaluation.';
