create table svc.quarantined_operations (
  environment_id integer not null,
  seq bigint not null,
  customer_id text not null collate "C",
  event text collate "C",
  operation jsonb not null,
  call jsonb,
  idempotency_key text collate "C",
  quarantined_at timestamptz not null,
  bytes integer not null,
  version integer not null,
  code text not null,
  message text not null,
  path text not null,
  violations jsonb not null,
  primary key (environment_id, seq)
);
comment on table svc.quarantined_operations is
  'Operations that were accepted and violate the schema, where the model keeps them (onViolation). Nothing else has seen them yet.';
comment on column svc.quarantined_operations.environment_id is 'The environment.';
comment on column svc.quarantined_operations.seq is
  'Order of acceptance, shared with svc.events.event_seq, which it becomes when the operation is released.';
comment on column svc.quarantined_operations.customer_id is
  'Customer id of the caller''s system; empty where a call of the tracking API names none.';
comment on column svc.quarantined_operations.event is 'Event name; null for an identify, empty where a call names none.';
comment on column svc.quarantined_operations.operation is
  'The operation as sent, numbers beyond double precision included; of a call what was made of it, with a problem where nothing could be.';
comment on column svc.quarantined_operations.call is 'The call of the tracking API that it was made of, as sent; null for any other.';
comment on column svc.quarantined_operations.idempotency_key is
  'The caller''s key; svc.idempotency_keys has it, so that a repetition is one while the operation is here and afterwards.';
comment on column svc.quarantined_operations.quarantined_at is
  'When it was accepted; where it has no timestamp of its own, also when it occurred.';
comment on column svc.quarantined_operations.bytes is 'Its size as text, as svc.quarantines counts it.';
comment on column svc.quarantined_operations.version is 'The version whose schema it was last held against; 0 where none was active.';
comment on column svc.quarantined_operations.code is 'Code of its first violation.';
comment on column svc.quarantined_operations.message is 'The first violation in a sentence.';
comment on column svc.quarantined_operations.path is 'Where in the operation the first violation is.';
comment on column svc.quarantined_operations.violations is 'The first twenty violations, each {code, message, path}.';
create index quarantined_operations_customer_idx on svc.quarantined_operations (environment_id, customer_id);

create table svc.quarantines (
  environment_id integer primary key,
  operations bigint not null,
  bytes bigint not null,
  events_discarded bigint not null default 0
) with (fillfactor = 50);
comment on table svc.quarantines is 'What is in quarantine, one row per environment that ever had something there. Nobody has to count.';
comment on column svc.quarantines.environment_id is 'The environment.';
comment on column svc.quarantines.operations is 'Operations that are in quarantine.';
comment on column svc.quarantines.bytes is 'Their size as text.';
comment on column svc.quarantines.events_discarded is 'Track operations that left it unreleased, ever: discarded, too old or erased.';
