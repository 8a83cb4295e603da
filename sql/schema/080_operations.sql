create table svc.workers (
  worker_id text primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table svc.workers is 'Heartbeats of worker processes. The jobs of one that fell silent are unlocked.';
comment on column svc.workers.worker_id is 'Id of the process in graphile-worker''s locks.';
comment on column svc.workers.started_at is 'When it started.';
comment on column svc.workers.seen_at is 'Its last heartbeat.';
