--! Previous: sha1:b32b7986f39e71fba3ca6e9a28ccc3daadb1837a
--! Hash: sha1:2d58cddc5390647302ac511e631a5a373dbdedc4

alter table svc.retention add column if not exists removed_through bigint not null default 0;
comment on column svc.retention.removed_through is
  'Up to which batch_seq something was removed: of what was accepted later all is there. Beyond swept_through, where something stays.';
alter table svc.retention add column if not exists next_after bigint;
comment on column svc.retention.next_after is 'After which batch_seq the next sweep goes on; null where it begins at swept_through.';
-- Up to the last call that was old enough when something was last removed. For each environment it reads the calls that retention had to
-- leave, which are few, and no others; of a cluster's tables it asks for one environment at a time.
do $$
declare
  _kept record;
begin
  for _kept in
    select e.environment_id, p.retention_days
    from svc.environments as e
    join svc.projects as j on j.project_id = e.project_id
    join iam.organizations as o on o.organization_id = j.organization_id
    join iam.plans as p on p.plan_id = o.plan_id
    where p.retention_days is not null
  loop
    update svc.retention as r
    set removed_through = greatest(
      r.swept_through,
      (
        select b.batch_seq - 1
        from svc.ingest_batches as b
        where b.environment_id = _kept.environment_id and b.batch_seq > r.swept_through
          and b.accepted_at >= r.last_removed_at - _kept.retention_days * interval '24 hours'
        order by b.batch_seq
        limit 1
      )
    )
    where r.environment_id = _kept.environment_id and r.last_removed_at is not null;
  end loop;
end
$$;
comment on table svc.ingest_batches is 'One row per accepted ingest call. Insert-only.';
comment on table svc.emission_batches is
  'One row per write-back with emissions, which became deliveries in the same transaction.';
