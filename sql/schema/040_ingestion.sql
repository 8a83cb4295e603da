create table svc.ingest_batches (
  environment_id integer not null,
  batch_seq bigint not null,
  batch_id uuid not null,
  accepted_at timestamptz not null,
  tracked integer not null,
  identified integer not null,
  late boolean not null,
  primary key (environment_id, batch_seq),
  constraint ingest_batches_batch_id_key unique (environment_id, batch_id)
);
comment on table svc.ingest_batches is 'One row per accepted ingest call. Insert-only.';
comment on column svc.ingest_batches.environment_id is 'The environment.';
comment on column svc.ingest_batches.batch_seq is
  'Order of acceptance; the operations of the call are numbered batch_seq * 1024 + position.';
comment on column svc.ingest_batches.batch_id is
  'Made by the calling process, so that a call repeated after a lost answer finds its first outcome.';
comment on column svc.ingest_batches.accepted_at is 'When the call was accepted; the default occurrence time of its events.';
comment on column svc.ingest_batches.tracked is 'Events stored by the call, repetitions not counted. Usage is the sum of this column.';
comment on column svc.ingest_batches.identified is 'Trait updates stored by the call.';
comment on column svc.ingest_batches.late is
  'Whether an event was accepted more than five minutes after it occurred; while such come, timers of backfilled customers wait.';
create index ingest_batches_late_idx on svc.ingest_batches (environment_id, accepted_at) where late;

create table svc.events (
  environment_id integer not null,
  event_seq bigint not null,
  customer_id text not null collate "C",
  event text not null collate "C",
  properties jsonb not null,
  occurred_at timestamptz not null,
  accepted_at timestamptz not null,
  idempotency_key text collate "C",
  primary key (environment_id, event_seq)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.events is
  'Track operations as accepted. Insert-only; the payload is kept exactly, numbers beyond double precision included.';
comment on column svc.events.environment_id is 'The environment.';
comment on column svc.events.event_seq is 'Order of acceptance. svc.event_id() makes the public id of it.';
comment on column svc.events.customer_id is 'Customer id of the caller''s system.';
comment on column svc.events.event is 'Event name.';
comment on column svc.events.properties is 'Event properties.';
comment on column svc.events.occurred_at is 'When it happened: the explicit timestamp, else accepted_at.';
comment on column svc.events.accepted_at is 'When it was accepted.';
comment on column svc.events.idempotency_key is
  'The caller''s key, for export and erasure to find it by; svc.idempotency_keys decides what is a repetition.';
create index events_customer_idx on svc.events (environment_id, customer_id, occurred_at, event_seq);
-- For lists. Every event passes their predicates, but only the statements that state one may take that index: whatever the statistics
-- say, a look-up by customer never reads an environment from its end, and a list of one event name never the others.
create index events_occurred_idx on svc.events (environment_id, occurred_at, event_seq) where event_seq >= 0;
create index events_event_idx on svc.events (environment_id, event, occurred_at, event_seq) where event <> '';

create table svc.trait_updates (
  environment_id integer not null,
  operation_seq bigint not null,
  customer_id text not null collate "C",
  traits jsonb not null,
  accepted_at timestamptz not null,
  idempotency_key text collate "C",
  primary key (environment_id, operation_seq)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.trait_updates is 'Identify operations as accepted. Insert-only.';
comment on column svc.trait_updates.environment_id is 'The environment.';
comment on column svc.trait_updates.operation_seq is 'Order of acceptance, shared with svc.events.event_seq.';
comment on column svc.trait_updates.customer_id is 'Customer id of the caller''s system.';
comment on column svc.trait_updates.traits is 'Traits to merge by key; null removes one.';
comment on column svc.trait_updates.accepted_at is 'When it was accepted.';
comment on column svc.trait_updates.idempotency_key is 'The key of the tracking API''s call, as of svc.events; null for any other.';
create index trait_updates_customer_idx on svc.trait_updates (environment_id, customer_id, operation_seq);

create table svc.idempotency_keys (
  environment_id integer not null,
  idempotency_key text not null collate "C",
  payload_hash bigint not null,
  event_seq bigint not null,
  created_at timestamptz not null,
  primary key (environment_id, idempotency_key)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.idempotency_keys is 'Keys seen, apart from events so that they outlive raw events. Insert-only.';
comment on column svc.idempotency_keys.environment_id is 'The environment; keys are isolated by it.';
comment on column svc.idempotency_keys.idempotency_key is 'The caller''s key.';
comment on column svc.idempotency_keys.payload_hash is 'Hash of customer, event, properties and explicit timestamp (svc.payload_hash).';
comment on column svc.idempotency_keys.event_seq is 'The event that the key made; or the trait update, of a call of the tracking API.';
comment on column svc.idempotency_keys.created_at is 'When the key was first seen.';

create table svc.inbox (
  environment_id integer not null,
  customer_id text not null collate "C",
  seq bigint not null,
  not_before timestamptz,
  late boolean not null default false,
  primary key (environment_id, customer_id, seq)
);
comment on table svc.inbox is 'Operations still to be evaluated. Evaluation deletes its rows, so an event is pending while it has one.';
comment on column svc.inbox.environment_id is 'The environment.';
comment on column svc.inbox.customer_id is 'The customer.';
comment on column svc.inbox.seq is 'The operation: event_seq of svc.events or operation_seq of svc.trait_updates.';
comment on column svc.inbox.not_before is
  'Null while waiting for a worker. A time ahead for an event that lies ahead, infinity for a customer set aside.';
comment on column svc.inbox.late is
  'Evaluated behind what happens now: events that occurred more than svc.punctual() before they were accepted, and what was in quarantine.';
create index inbox_ready_idx on svc.inbox (environment_id, late, seq) where not_before is null;
create index inbox_ahead_idx on svc.inbox (environment_id, customer_id, not_before) where not_before is not null;

create table svc.schema_violations (
  environment_id integer not null,
  version integer not null,
  -- The empty name stands for the traits, as in svc.payload_checks.
  event text not null collate "C",
  code text not null collate "C",
  path text not null collate "C",
  operations bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  last_seq bigint,
  primary key (environment_id, version, event, code, path)
);
comment on table svc.schema_violations is
  'How accepted operations violate a schema that is not strict: one row per version and kind, at most 1,000 and one for all others.';
comment on column svc.schema_violations.environment_id is 'The environment.';
comment on column svc.schema_violations.version is 'The configuration version whose schema they violate.';
comment on column svc.schema_violations.event is 'The event name that was sent; empty for traits.';
comment on column svc.schema_violations.code is 'The diagnostic code, for example INVALID_PROPERTY_TYPE.';
comment on column svc.schema_violations.path is
  'Where in an operation, without positions in arrays: event, properties.plan, traits.tags[]; * for all beyond 1,000 rows.';
comment on column svc.schema_violations.operations is
  'How many stored operations have violated it so, at least: of a call with thousands of violations not all are counted.';
comment on column svc.schema_violations.first_seen_at is 'When the first of them was accepted.';
comment on column svc.schema_violations.last_seen_at is 'When the last of them was accepted.';
comment on column svc.schema_violations.last_seq is
  'The last of them: event_seq of svc.events or operation_seq of svc.trait_updates; null once its customer was erased.';
