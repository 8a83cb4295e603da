--! Previous: sha1:c0ece4a29d4ff5872ce5bdb34445d4cfb2edd679
--! Hash: sha1:f007eb722672b4afd22d8b5e58a2670b23dcf112

-- What is late waits apart, so that nothing else waits behind a backfill. Making the index again reads the operations that wait; adding the
-- column rewrites nothing, and what waits already counts as not late.
drop index if exists svc.inbox_ready_idx;
alter table svc.inbox add column if not exists late boolean not null default false;
create index inbox_ready_idx on svc.inbox (environment_id, late, seq) where not_before is null;
comment on column svc.inbox.late is
  'Evaluated behind what happens now: events that occurred more than svc.punctual() before they were accepted, and what was in quarantine.';
