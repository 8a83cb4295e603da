create table svc.emissions (
  environment_id integer not null,
  emission_seq bigint not null,
  customer_id text not null collate "C",
  event_type text not null collate "C",
  source text not null,
  metadata jsonb not null,
  emitted_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  created_at timestamptz not null default now(),
  primary key (environment_id, emission_seq),
  constraint emissions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.emissions is 'What evaluation had to tell: the customer''s timeline and the source of webhooks. Insert-only.';
comment on column svc.emissions.environment_id is 'The environment.';
comment on column svc.emissions.emission_seq is 'Order: evaluation_seq * 65536 + position. svc.emission_id() makes the public id of it.';
comment on column svc.emissions.customer_id is 'The customer.';
comment on column svc.emissions.event_type is 'For example customer.activated or segment.entered.';
comment on column svc.emissions.source is 'What emitted it: lifecycle, segment, ….';
comment on column svc.emissions.metadata is 'Depends on the type, for example previous_lifecycle and new_lifecycle.';
comment on column svc.emissions.emitted_at is 'The instant of what happened: of the operation or the due instant that caused it.';
comment on column svc.emissions.cause_type is 'event, identify, timer or job.';
comment on column svc.emissions.cause_id is 'Id of the event or job.';
comment on column svc.emissions.config_version is 'The version evaluated.';
comment on column svc.emissions.created_at is 'When it was written.';
create index emissions_customer_idx on svc.emissions (environment_id, customer_id, emission_seq);
-- A recompute tells of an expiration only what was not told before.
create index emissions_expired_idx on svc.emissions (environment_id, customer_id, emitted_at)
where event_type = 'journey.expired' and source = 'journey';

create table svc.emission_batches (
  environment_id integer not null,
  evaluation_seq bigint not null,
  emissions integer not null,
  created_at timestamptz not null default now(),
  primary key (environment_id, evaluation_seq),
  -- Positions are the low 16 bits of emission_seq.
  constraint emission_batches_fit check (emissions between 1 and 65536)
);
comment on table svc.emission_batches is
  'One row per write-back with emissions, which became deliveries in the same transaction.';
comment on column svc.emission_batches.environment_id is 'The environment.';
comment on column svc.emission_batches.evaluation_seq is 'Its emissions are numbered evaluation_seq * 65536 + position.';
comment on column svc.emission_batches.emissions is 'How many there are.';
comment on column svc.emission_batches.created_at is 'When it was written.';
-- Where a span of time begins and ends among the emissions.
create index emission_batches_created_idx on svc.emission_batches (environment_id, created_at);
