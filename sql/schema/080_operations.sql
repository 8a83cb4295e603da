create table svc.workers (
  worker_id text primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table svc.workers is 'Heartbeats of worker processes. The jobs of one that fell silent are unlocked.';
comment on column svc.workers.worker_id is 'Id of the process in graphile-worker''s locks.';
comment on column svc.workers.started_at is 'When it started.';
comment on column svc.workers.seen_at is 'Its last heartbeat.';

create table svc.worker_counters (
  counter text not null collate "C",
  label text not null collate "C",
  bucket text not null collate "C",
  value double precision not null,
  primary key (counter, label, bucket)
) with (fillfactor = 50);
comment on table svc.worker_counters is
  'What all workers have counted since the installation began, for GET /metrics of any process. Names nobody whose events they were.';
comment on column svc.worker_counters.counter is 'Name of the metric.';
comment on column svc.worker_counters.label is 'Values of its labels, with / between them; empty where it has none.';
comment on column svc.worker_counters.bucket is
  'Of a histogram: the upper bound of a bucket in seconds, +Inf, or sum; buckets do not hold the smaller ones. Empty of a counter.';
comment on column svc.worker_counters.value is 'The count, or the sum in seconds.';

create table svc.cursor_secret (
  is_only boolean primary key default true,
  secret bytea not null,
  constraint cursor_secret_one_row check (is_only)
);
comment on table svc.cursor_secret is 'What the cursors of lists are sealed by: one row, drawn when the installation was made.';
comment on column svc.cursor_secret.is_only is 'Always true, so that there is one row.';
comment on column svc.cursor_secret.secret is '32 bytes. With another one, the cursors that clients hold are refused.';

insert into svc.cursor_secret (secret)
select sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
