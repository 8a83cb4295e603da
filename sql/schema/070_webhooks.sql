create table svc.webhooks (
  environment_id integer not null,
  webhook_id text not null,
  url text not null,
  event_types text[] not null,
  max_event_age text,
  max_concurrency integer not null default 10,
  max_per_second integer,
  sealed_secret bytea not null,
  previous_sealed_secret bytea,
  previous_secret_expires_at timestamptz,
  active_since timestamptz not null default now(),
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  leased_by text,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  include text[] not null default '{}',
  format text not null default 'json',
  primary key (environment_id, webhook_id),
  constraint webhooks_event_types_not_empty check (cardinality(event_types) > 0),
  constraint webhooks_max_event_age_readable check (max_event_age ~ '^[1-9][0-9]{0,6}[mhdw]$'),
  constraint webhooks_max_concurrency_in_range check (max_concurrency between 1 and 100),
  constraint webhooks_max_per_second_in_range check (max_per_second between 1 and 1000),
  constraint webhooks_previous_secret_expires check ((previous_sealed_secret is null) = (previous_secret_expires_at is null)),
  constraint webhooks_include_bounded check (cardinality(include) <= 32),
  constraint webhooks_format_known check (format in ('json', 'slack', 'teams')),
  constraint webhooks_disabled_for_a_reason check ((disabled_at is null) = (disabled_reason is null)),
  constraint webhooks_leased_for_a_time check ((leased_by is null) = (leased_until is null))
) with (fillfactor = 50);
comment on table svc.webhooks is 'Endpoints that receive emissions.';
comment on column svc.webhooks.environment_id is 'The environment.';
comment on column svc.webhooks.webhook_id is 'Public id, whk_ and random hex.';
comment on column svc.webhooks.url is 'Address that deliveries are posted to.';
comment on column svc.webhooks.event_types is 'Types to deliver; a trailing * matches any ending, for example customer.*.';
comment on column svc.webhooks.max_event_age is
  'Emissions of what happened longer before they were written are not delivered, for example 7d; null without a limit.';
comment on column svc.webhooks.max_concurrency is 'Deliveries under way at once at most.';
comment on column svc.webhooks.max_per_second is 'Deliveries begun per second at most; null without a limit.';
comment on column svc.webhooks.sealed_secret is 'The signing secret, encrypted by the service with SVC_SECRET.';
comment on column svc.webhooks.previous_sealed_secret is 'The secret before the last rotation, which signs too until it expires.';
comment on column svc.webhooks.previous_secret_expires_at is 'Until when the secret before the last rotation signs.';
comment on column svc.webhooks.active_since is
  'Since when it is as it is: created, enabled, or given another address; what was attempted before decides nothing.';
comment on column svc.webhooks.failing_since is
  'When the first attempt was made of those that have all failed since the last success; null while they succeed.';
comment on column svc.webhooks.disabled_at is 'From when nothing is delivered.';
comment on column svc.webhooks.disabled_reason is 'Why it was disabled.';
comment on column svc.webhooks.leased_by is 'The worker that alone delivers here while its lease lasts.';
comment on column svc.webhooks.leased_until is 'When that lease ends; afterwards that worker is taken for dead.';
comment on column svc.webhooks.created_at is 'When it was created; only later emissions are delivered.';
comment on column svc.webhooks.deleted_at is 'When it was deleted; it is gone for everybody, and its deliveries are removed bit by bit.';
comment on column svc.webhooks.include is
  'What of the customer deliveries tell besides: name, owner, renewal, url, facts, and traits by name, for example traits.plan.';
comment on column svc.webhooks.format is 'How a delivery is written: json, or a message as slack or teams takes it.';

-- Few, and soon removed.
create index webhooks_deleted_idx on svc.webhooks (deleted_at)
where deleted_at is not null;

create table svc.deliveries (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  resent_after integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (environment_id, webhook_id, emission_seq),
  constraint deliveries_webhook_fkey foreign key (environment_id, webhook_id) references svc.webhooks on delete cascade,
  constraint deliveries_status_known check (status in ('pending', 'delivered', 'failed')),
  constraint deliveries_finished_unless_pending check ((status = 'pending') = (finished_at is null))
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
comment on table svc.deliveries is 'One row per emission and webhook that matches.';
comment on column svc.deliveries.environment_id is 'The environment.';
comment on column svc.deliveries.webhook_id is 'The webhook.';
comment on column svc.deliveries.emission_seq is 'The emission.';
comment on column svc.deliveries.status is 'pending, delivered or failed.';
comment on column svc.deliveries.attempts is 'Attempts made.';
comment on column svc.deliveries.resent_after is
  'Attempts that had been made when it was last sent again; the schedule of attempts counts from there.';
comment on column svc.deliveries.next_attempt_at is 'When the next attempt is due.';
comment on column svc.deliveries.finished_at is 'When it was delivered or given up.';
create index deliveries_pending_idx on svc.deliveries (environment_id, webhook_id, next_attempt_at, emission_seq)
where status = 'pending';
-- Rare, and asked for by name after an outage.
create index deliveries_failed_idx on svc.deliveries (environment_id, webhook_id, emission_seq)
where status = 'failed';

create table svc.delivery_attempts (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  attempt integer not null,
  attempted_at timestamptz not null,
  latency_ms integer not null,
  status_code integer,
  error text,
  response text,
  primary key (environment_id, webhook_id, emission_seq, attempt)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.delivery_attempts is
  'Every attempt to deliver and its outcome, for 30 days unless SVC_DELIVERY_ATTEMPT_DAYS says otherwise. Insert-only.';
comment on column svc.delivery_attempts.environment_id is 'The environment.';
comment on column svc.delivery_attempts.webhook_id is 'The webhook.';
comment on column svc.delivery_attempts.emission_seq is 'The emission.';
comment on column svc.delivery_attempts.attempt is 'Counts from 1.';
comment on column svc.delivery_attempts.attempted_at is 'When the request was sent.';
comment on column svc.delivery_attempts.latency_ms is 'Milliseconds until the answer or the failure.';
comment on column svc.delivery_attempts.status_code is 'HTTP status; null where there was no answer.';
comment on column svc.delivery_attempts.error is 'Why there was no answer.';
comment on column svc.delivery_attempts.response is 'First KiB of the answer.';
-- What is old is removed by it.
create index delivery_attempts_age_idx on svc.delivery_attempts (attempted_at);

create table svc.delivery_bodies (
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

create table svc.public_url (
  is_only boolean primary key default true,
  url text not null,
  constraint public_url_one_row check (is_only)
);
comment on table svc.public_url is 'Where people reach the service, for links in deliveries: one row, written when an HTTP process starts.';
comment on column svc.public_url.is_only is 'Always true, so that there is one row.';
comment on column svc.public_url.url is 'SVC_PUBLIC_URL, else the address that the process listens on; without a slash at the end.';
