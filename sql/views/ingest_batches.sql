create or replace view svc_inspect.ingest_batches as
select
  o.slug as organization, p.slug as project, e.name as environment, b.batch_seq, b.batch_id, b.accepted_at, b.tracked, b.identified, b.late
from svc.ingest_batches as b
join svc.environments as e on e.environment_id = b.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.ingest_batches is 'Accepted calls, one row each.';
comment on column svc_inspect.ingest_batches.organization is 'Slug of the organization.';
comment on column svc_inspect.ingest_batches.project is 'Slug of the project.';
comment on column svc_inspect.ingest_batches.environment is 'test or live.';
comment on column svc_inspect.ingest_batches.batch_seq is 'Order of acceptance.';
comment on column svc_inspect.ingest_batches.batch_id is 'The id by which a repeated call finds its first outcome.';
comment on column svc_inspect.ingest_batches.accepted_at is 'When it was accepted.';
comment on column svc_inspect.ingest_batches.tracked is 'Number of events in it, without repetitions.';
comment on column svc_inspect.ingest_batches.identified is 'Number of identify operations in it.';
comment on column svc_inspect.ingest_batches.late is 'Whether an event was accepted more than five minutes after it occurred.';
