--! Previous: sha1:1ad4b554d812c384833a286c49b458912898f0a7
--! Hash: sha1:82c18714f4354f23b8aa5130cf725abc7223d77a

-- The sample of runs of a journey. Locks the table against writes while it is built: about a second for a million runs.
create index if not exists journey_runs_sample_idx on svc.journey_runs
  (environment_id, journey_id, (hashtextextended(customer_id, 0) & 9223372036854775807));

-- Webhooks that say who: what deliveries tell besides their emission, and where their links lead. Changes of the catalog alone.
alter table svc.webhooks add column if not exists include text[] not null default '{}';
alter table svc.webhooks add column if not exists format text not null default 'json';
alter table svc.webhooks drop constraint if exists webhooks_include_bounded;
alter table svc.webhooks add constraint webhooks_include_bounded check (cardinality(include) <= 32);
alter table svc.webhooks drop constraint if exists webhooks_format_known;
alter table svc.webhooks add constraint webhooks_format_known check (format in ('json', 'slack', 'teams'));
comment on column svc.webhooks.include is
  'What of the customer deliveries tell besides: name, owner, renewal, url, facts, and traits by name, for example traits.plan.';
comment on column svc.webhooks.format is 'How a delivery is written: json, or a message as slack or teams takes it.';
create table if not exists svc.delivery_bodies (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  body text not null,
  primary key (environment_id, webhook_id, emission_seq)
);
comment on table svc.delivery_bodies is
  'What is sent of the deliveries that tell more than their emission: written with the delivery, so that every attempt says the same.';
comment on column svc.delivery_bodies.environment_id is 'The environment.';
comment on column svc.delivery_bodies.webhook_id is 'The webhook.';
comment on column svc.delivery_bodies.emission_seq is 'The emission.';
comment on column svc.delivery_bodies.body is 'The body of every attempt, byte for byte.';

create table if not exists svc.public_url (
  is_only boolean primary key default true,
  url text not null,
  constraint public_url_one_row check (is_only)
);
comment on table svc.public_url is 'Where people reach the service, for links in deliveries: one row, written when an HTTP process starts.';
comment on column svc.public_url.is_only is 'Always true, so that there is one row.';
comment on column svc.public_url.url is 'SVC_PUBLIC_URL, else the address that the process listens on; without a slash at the end.';
-- Webhooks that say who: to here.

-- Quarantine: operations that violate a strict schema and are kept. The generated column rewrites svc.config_versions, a row for each
-- deployed version, which are few.
alter table svc.config_versions
  add column if not exists on_violation text not null generated always as (coalesce(snapshot ->> 'onViolation', 'refuse')) stored;
comment on column svc.config_versions.on_violation is 'What happens to them where it does: refuse, or quarantine, which keeps them apart.';
create table if not exists svc.quarantined_operations (
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
create index if not exists quarantined_operations_customer_idx on svc.quarantined_operations (environment_id, customer_id);

create table if not exists svc.quarantines (
  environment_id integer primary key references svc.environments,
  operations bigint not null,
  bytes bigint not null,
  events_discarded bigint not null default 0
) with (fillfactor = 50);
comment on table svc.quarantines is 'What is in quarantine, one row per environment that ever had something there. Nobody has to count.';
comment on column svc.quarantines.environment_id is 'The environment.';
comment on column svc.quarantines.operations is 'Operations that are in quarantine.';
comment on column svc.quarantines.bytes is 'Their size as text.';
comment on column svc.quarantines.events_discarded is 'Track operations that left it unreleased, ever: discarded, too old or erased.';

-- Keys of identifies, which calls of the tracking API have.
alter table svc.trait_updates add column if not exists idempotency_key text collate "C";
comment on column svc.trait_updates.idempotency_key is 'The key of the tracking API''s call, as of svc.events; null for any other.';
comment on column svc.idempotency_keys.event_seq is 'The event that the key made; or the trait update, of a call of the tracking API.';
