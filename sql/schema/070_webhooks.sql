create table svc.webhooks (
  environment_id integer not null references svc.environments,
  webhook_id text not null,
  url text not null,
  event_types text[] not null,
  sealed_secret bytea not null,
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null default now(),
  primary key (environment_id, webhook_id),
  constraint webhooks_event_types_not_empty check (cardinality(event_types) > 0)
);
comment on table svc.webhooks is 'Endpoints that receive emissions.';
comment on column svc.webhooks.environment_id is 'The environment.';
comment on column svc.webhooks.webhook_id is 'Public id, whk_ and random hex.';
comment on column svc.webhooks.url is 'Address that deliveries are posted to.';
comment on column svc.webhooks.event_types is 'Types to deliver; a trailing * matches any ending, for example customer.*.';
comment on column svc.webhooks.sealed_secret is 'The signing secret, encrypted by the service with SVC_SECRET.';
comment on column svc.webhooks.disabled_at is 'From when nothing is delivered.';
comment on column svc.webhooks.disabled_reason is 'Why it was disabled.';
comment on column svc.webhooks.created_at is 'When it was created; only later emissions are delivered.';

create table svc.deliveries (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  claimed_until timestamptz,
  claimed_by text,
  finished_at timestamptz,
  primary key (environment_id, webhook_id, emission_seq),
  constraint deliveries_webhook_fkey foreign key (environment_id, webhook_id) references svc.webhooks on delete cascade,
  constraint deliveries_status_known check (status in ('pending', 'delivered', 'failed')),
  constraint deliveries_finished_unless_pending check ((status = 'pending') = (finished_at is null))
) with (fillfactor = 80);
comment on table svc.deliveries is 'One row per emission and webhook that matches.';
comment on column svc.deliveries.environment_id is 'The environment.';
comment on column svc.deliveries.webhook_id is 'The webhook.';
comment on column svc.deliveries.emission_seq is 'The emission.';
comment on column svc.deliveries.status is 'pending, delivered or failed.';
comment on column svc.deliveries.attempts is 'Attempts made.';
comment on column svc.deliveries.next_attempt_at is 'When the next attempt is due.';
comment on column svc.deliveries.claimed_until is 'While ahead, a worker is at it; afterwards that worker is taken for dead.';
comment on column svc.deliveries.claimed_by is 'That worker.';
comment on column svc.deliveries.finished_at is 'When it was delivered or given up.';
create index deliveries_pending_idx on svc.deliveries (environment_id, webhook_id, next_attempt_at, emission_seq)
where status = 'pending';
-- What is in flight at an endpoint is counted at every claim, however much waits there.
create index deliveries_claimed_idx on svc.deliveries (environment_id, webhook_id, claimed_until)
where status = 'pending' and claimed_until is not null;

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
  primary key (environment_id, webhook_id, emission_seq, attempt),
  constraint delivery_attempts_delivery_fkey foreign key (environment_id, webhook_id, emission_seq) references svc.deliveries
  on delete cascade
);
comment on table svc.delivery_attempts is 'Every attempt to deliver and its outcome. Insert-only.';
comment on column svc.delivery_attempts.environment_id is 'The environment.';
comment on column svc.delivery_attempts.webhook_id is 'The webhook.';
comment on column svc.delivery_attempts.emission_seq is 'The emission.';
comment on column svc.delivery_attempts.attempt is 'Counts from 1.';
comment on column svc.delivery_attempts.attempted_at is 'When the request was sent.';
comment on column svc.delivery_attempts.latency_ms is 'Milliseconds until the answer or the failure.';
comment on column svc.delivery_attempts.status_code is 'HTTP status; null where there was no answer.';
comment on column svc.delivery_attempts.error is 'Why there was no answer.';
comment on column svc.delivery_attempts.response is 'First KiB of the answer.';
