--! Previous: sha1:b32b7986f39e71fba3ca6e9a28ccc3daadb1837a
--! Hash: sha1:b97fd571a13857f2770de5871885e1b224c03b05

alter table svc.retention add column if not exists removed_through bigint not null default 0;
comment on column svc.retention.removed_through is
  'Up to which batch_seq something was removed: of what was accepted later all is there. Beyond swept_through, where something stays.';
alter table svc.retention add column if not exists next_after bigint;
comment on column svc.retention.next_after is 'After which batch_seq the next sweep goes on; null where it begins at swept_through.';
-- Whatever was old enough when something was last removed.
update svc.retention as r
set removed_through = greatest(
  r.swept_through,
  (
    select max(b.batch_seq)
    from svc.ingest_batches as b
    join svc.environments as e on e.environment_id = b.environment_id
    join svc.projects as j on j.project_id = e.project_id
    join iam.organizations as o on o.organization_id = j.organization_id
    join iam.plans as p on p.plan_id = o.plan_id
    where b.environment_id = r.environment_id and b.accepted_at < r.last_removed_at - p.retention_days * interval '24 hours'
  )
)
where r.last_removed_at is not null;
comment on table svc.ingest_batches is 'One row per accepted ingest call. Insert-only.';
comment on table svc.emission_batches is
  'One row per write-back with emissions, which became deliveries in the same transaction.';
