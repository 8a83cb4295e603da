create or replace view svc_inspect.environments as
select
  o.slug as organization, p.slug as project, e.name as environment, 'v' || e.active_version as active_version,
  (
    select b.accepted_at from svc.ingest_batches as b
    where b.environment_id = h.environment_id
    order by b.batch_seq desc
    limit 1
  ) as last_accepted_at,
  least(
    (
      select b.accepted_at from svc.ingest_batches as b
      where b.environment_id = h.environment_id and b.batch_seq >= (
        select i.seq / 1024 from svc.inbox as i
        where i.environment_id = h.environment_id and not i.late and i.not_before is null
        order by i.seq
        limit 1
      )
      order by b.batch_seq
      limit 1
    ),
    (
      select b.accepted_at from svc.ingest_batches as b
      where b.environment_id = h.environment_id and b.batch_seq >= (
        select i.seq / 1024 from svc.inbox as i
        where i.environment_id = h.environment_id and i.late and i.not_before is null
        order by i.seq
        limit 1
      )
      order by b.batch_seq
      limit 1
    )
  ) as pending_since,
  (select count(*) from svc.inbox as i where i.environment_id = h.environment_id and i.not_before is null) as pending_operations,
  (
    select count(*) from svc.inbox as i
    where i.environment_id = h.environment_id and i.not_before is not null and i.not_before < 'infinity'
  ) as future_events,
  (
    select count(*) from svc.customers as c where c.environment_id = h.environment_id and c.set_aside_at is not null
  ) as set_aside_customers,
  e.created_at, e.frozen_at, e.environment_id
from svc.homes as h
join svc.environments as e on e.environment_id = h.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.environments is 'Environments, and how far evaluation is behind ingestion in each.';
comment on column svc_inspect.environments.organization is 'Slug of the organization.';
comment on column svc_inspect.environments.project is 'Slug of the project.';
comment on column svc_inspect.environments.environment is 'test or live.';
comment on column svc_inspect.environments.active_version is 'The version that is active; null before the first deploy.';
comment on column svc_inspect.environments.last_accepted_at is 'When a call was last accepted; null if never.';
comment on column svc_inspect.environments.pending_since is
  'When the oldest operation that waits for a worker was accepted; null if none waits.';
comment on column svc_inspect.environments.pending_operations is 'Number of operations that wait for a worker.';
comment on column svc_inspect.environments.future_events is 'Number of events that occur in the future and are evaluated then.';
comment on column svc_inspect.environments.set_aside_customers is 'Customers whose evaluation was given up; their operations wait, too.';
comment on column svc_inspect.environments.created_at is 'When it was created.';
comment on column svc_inspect.environments.frozen_at is
  'When it stopped accepting, evaluating and delivering because it moves to another database; null otherwise.';
comment on column svc_inspect.environments.environment_id is 'Its number, by which large views are read in the order of an index.';
