--! Previous: sha1:37b132ba72feceaceb7f9f21a96b78fcdd94d623
--! Hash: sha1:017a6bd15a961b82685782d87f39b6c3b0a18d20

-- What is older than the plan keeps it, and what recomputes leave behind, is removed.
create table if not exists svc.superseded_logs (
  environment_id integer not null,
  customer_id text not null collate "C",
  generation integer not null,
  superseded_at timestamptz not null default now(),
  primary key (environment_id, customer_id, generation)
);
comment on table svc.superseded_logs is
  'Customers whose logs a recompute wrote anew: those of earlier generations are removed a week later.';
comment on column svc.superseded_logs.environment_id is 'The environment.';
comment on column svc.superseded_logs.customer_id is 'The customer.';
comment on column svc.superseded_logs.generation is 'The generation that the recompute wrote; earlier ones count no more.';
comment on column svc.superseded_logs.superseded_at is 'When it did.';
create index if not exists superseded_logs_age_idx on svc.superseded_logs (environment_id, superseded_at, customer_id, generation);

-- What recomputes have left behind until now goes in a week. Reads all customers, a second for each hundred thousand: before any statement
-- that needs a table which processes at work use, so that nothing waits for it.
insert into svc.superseded_logs (environment_id, customer_id, generation)
select c.environment_id, c.customer_id, c.generation from svc.customers as c where c.generation > 0
on conflict do nothing;

create table if not exists svc.retired_keys (
  environment_id integer not null,
  retired_at timestamptz not null,
  event_seq bigint not null,
  customer_id text not null collate "C",
  idempotency_key text not null collate "C",
  primary key (environment_id, retired_at, event_seq)
);
comment on table svc.retired_keys is
  'Idempotency keys of events that were removed because of their age. They still tell repetitions for 90 days, then they go, too.';
comment on column svc.retired_keys.environment_id is 'The environment.';
comment on column svc.retired_keys.retired_at is 'When the event was removed.';
comment on column svc.retired_keys.event_seq is 'The event.';
comment on column svc.retired_keys.customer_id is 'Its customer, for erasure to find the key by.';
comment on column svc.retired_keys.idempotency_key is 'Its key, which svc.idempotency_keys holds.';
create index if not exists retired_keys_customer_idx on svc.retired_keys (environment_id, customer_id);

create table if not exists svc.worker_counters (
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

create table if not exists svc.retention (
  environment_id integer primary key references svc.environments,
  swept_through bigint not null default 0,
  keys_swept_through timestamptz not null default '-infinity',
  events_removed bigint not null default 0,
  trait_updates_removed bigint not null default 0,
  batch_events_removed bigint not null default 0,
  last_removed_at timestamptz
) with (fillfactor = 50);
comment on table svc.retention is
  'How far operations that are older than the plan keeps them were removed, one row per environment. Whoever removes some holds its row.';
comment on column svc.retention.environment_id is 'The environment.';
comment on column svc.retention.swept_through is 'Up to which batch_seq of svc.ingest_batches nothing is left.';
comment on column svc.retention.keys_swept_through is 'Before which retired_at of svc.retired_keys nothing is left.';
comment on column svc.retention.events_removed is 'Events that were removed, ever.';
comment on column svc.retention.trait_updates_removed is 'Trait updates that were removed, ever.';
comment on column svc.retention.batch_events_removed is
  'Sum of tracked of the rows of svc.ingest_batches that were removed; with those that are there, all events that were ever accepted.';
comment on column svc.retention.last_removed_at is 'When something was last removed; null for never.';

-- Plans: how long operations are kept, and whether AI may be used. From here to the end every request waits, some ten milliseconds.
alter table iam.plans add column if not exists retention_days integer;
alter table iam.plans add column if not exists ai boolean not null default true;
alter table iam.plans drop constraint if exists plans_retention_days_range;
alter table iam.plans add constraint plans_retention_days_range check (retention_days between 1 and 36500);
comment on column iam.plans.retention_days is
  'How many days of 24 hours operations as accepted are kept; null for ever. What is older is removed within minutes, for good.';
comment on column iam.plans.ai is 'Whether commands that ask a language model may be used; false answers PLAN_REQUIRED.';
