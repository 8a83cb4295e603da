create table svc.retention (
  environment_id integer primary key,
  swept_through bigint not null default 0,
  keys_swept_through timestamptz not null default '-infinity',
  events_removed bigint not null default 0,
  trait_updates_removed bigint not null default 0,
  batch_events_removed bigint not null default 0,
  last_removed_at timestamptz,
  removed_through bigint not null default 0,
  next_after bigint
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
comment on column svc.retention.removed_through is
  'Up to which batch_seq something was removed: of what was accepted later all is there. Beyond swept_through, where something stays.';
comment on column svc.retention.next_after is 'After which batch_seq the next sweep goes on; null where it begins at swept_through.';

create table svc.retired_keys (
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
create index retired_keys_customer_idx on svc.retired_keys (environment_id, customer_id);

create table svc.superseded_logs (
  environment_id integer not null,
  customer_id text not null collate "C",
  generation integer not null,
  superseded_at timestamptz not null default now(),
  primary key (environment_id, customer_id, generation)
);
comment on table svc.superseded_logs is
  'Customers whose logs a recompute wrote anew: those of earlier generations are removed when the plan''s days are over.';
comment on column svc.superseded_logs.environment_id is 'The environment.';
comment on column svc.superseded_logs.customer_id is 'The customer.';
comment on column svc.superseded_logs.generation is 'The generation that the recompute wrote; earlier ones count no more.';
comment on column svc.superseded_logs.superseded_at is 'When it did.';
create index superseded_logs_age_idx on svc.superseded_logs (environment_id, superseded_at, customer_id, generation);
