create table svc.customers (
  environment_id integer not null,
  customer_id text not null collate "C",
  created_at timestamptz not null,
  traits jsonb not null default '{}',
  lifecycle text collate "C",
  lifecycle_entered_at timestamptz,
  last_event_at timestamptz,
  evaluated_through timestamptz,
  next_due_at timestamptz,
  held_until timestamptz,
  config_version integer,
  -- json, not jsonb: components are shown in the author's order.
  health json,
  health_overall numeric(5, 2) generated always as ((health ->> 'overall')::numeric) stored,
  health_band text collate "C" generated always as (health ->> 'band') stored,
  state json,
  generation integer not null default 0,
  set_aside_at timestamptz,
  set_aside_error text,
  -- With the generation, so that what counts of a log is known without reading the customers.
  primary key (environment_id, customer_id) include (generation)
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
comment on table svc.customers is
  'Derived state, one row per customer. Evaluation locks the row, so one customer is evaluated by one worker at a time.';
comment on column svc.customers.environment_id is 'The environment.';
comment on column svc.customers.customer_id is 'Customer id of the caller''s system.';
comment on column svc.customers.created_at is 'When the first operation of the customer was accepted.';
comment on column svc.customers.traits is 'Current traits, merged from svc.trait_updates in order of acceptance.';
comment on column svc.customers.lifecycle is 'Present lifecycle state; null where the model has no lifecycle.';
comment on column svc.customers.lifecycle_entered_at is 'When the present lifecycle state was entered.';
comment on column svc.customers.last_event_at is 'Latest occurrence time seen.';
comment on column svc.customers.evaluated_through is 'The customer''s clock: the latest instant it was evaluated at.';
comment on column svc.customers.next_due_at is 'The earliest instant at which something changes without a new operation.';
comment on column svc.customers.held_until is
  'Set while the last event was accepted more than five minutes after it occurred: until then, a day after that acceptance, its timers
wait for the environment to settle.';
comment on column svc.customers.config_version is 'The version that the state was last evaluated under.';
comment on column svc.customers.health is
  'Present health score: overall, components and band; null where there is none. Earlier ones are in svc.health_scores.';
comment on column svc.customers.health_overall is 'The overall score of health.';
comment on column svc.customers.health_band is 'The band of health.';
comment on column svc.customers.state is
  'The engine''s working state, without what has a column, and in lists what has a fixed shape. Not an interface.';
comment on column svc.customers.generation is
  'How many recomputes wrote the customer''s history anew. Of the logs of transitions, health and rules only its rows of this generation
count.';
comment on column svc.customers.set_aside_at is
  'When evaluation of the customer was given up after repeated failure; its events stay pending.';
comment on column svc.customers.set_aside_error is 'Why it was set aside.';
create index customers_due_idx on svc.customers (environment_id, next_due_at)
where next_due_at is not null and held_until is null and set_aside_at is null;
create index customers_held_due_idx on svc.customers (environment_id, next_due_at)
where next_due_at is not null and held_until is not null and set_aside_at is null;
-- While an environment is unsettled, a held customer is due when both have passed.
create index customers_overdue_idx on svc.customers (environment_id, greatest(next_due_at, held_until))
where next_due_at is not null and held_until is not null and set_aside_at is null;
create index customers_set_aside_idx on svc.customers (environment_id, customer_id) where set_aside_at is not null;
-- Partial, so that a look-up by customer never takes it for the primary key.
create index customers_lifecycle_idx on svc.customers (environment_id, lifecycle, customer_id) where lifecycle is not null;
-- Which versions the present states were computed under, 0 before the first deploy. Every customer passes the predicate; only a statement
-- that states it may take the index.
create index customers_version_idx on svc.customers (environment_id, coalesce(config_version, 0)) where coalesce(config_version, 0) >= 0;
-- Longest inactive first; with what statistics of many customers need, which is a tenth of what they are. Every customer passes the
-- predicate; only a statement that states it may take the index.
create index customers_inactive_idx on svc.customers (environment_id, coalesce(last_event_at, created_at), customer_id)
include (lifecycle, last_event_at, health_overall, health_band)
where coalesce(last_event_at, created_at) is not null;

create table svc.lifecycle_transitions (
  environment_id integer not null,
  customer_id text not null collate "C",
  transition_seq bigint generated always as identity,
  from_state text collate "C",
  to_state text not null collate "C",
  transitioned_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  generation integer not null default 0,
  primary key (environment_id, customer_id, transition_seq),
  constraint lifecycle_transitions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.lifecycle_transitions is 'Every lifecycle transition. Insert-only; readers see the customer''s present generation.';
comment on column svc.lifecycle_transitions.environment_id is 'The environment.';
comment on column svc.lifecycle_transitions.customer_id is 'The customer.';
comment on column svc.lifecycle_transitions.transition_seq is 'Order of writing.';
comment on column svc.lifecycle_transitions.from_state is 'State left; null for the first.';
comment on column svc.lifecycle_transitions.to_state is 'State entered.';
comment on column svc.lifecycle_transitions.transitioned_at is
  'The instant of the transition: of the operation or the due instant that caused it.';
comment on column svc.lifecycle_transitions.cause_type is 'event, identify, timer or job.';
comment on column svc.lifecycle_transitions.cause_id is 'Id of the event or job.';
comment on column svc.lifecycle_transitions.config_version is 'The version evaluated.';
comment on column svc.lifecycle_transitions.generation is 'That of the customer when it was written.';
create index lifecycle_transitions_state_idx on svc.lifecycle_transitions (environment_id, to_state, transition_seq);

create table svc.blocked_transitions (
  environment_id integer not null,
  customer_id text not null collate "C",
  from_state text not null collate "C",
  to_state text not null collate "C",
  blocked_at timestamptz not null,
  primary key (environment_id, customer_id, from_state, to_state)
) with (fillfactor = 80);
comment on table svc.blocked_transitions is
  'Transitions that did not happen although their condition held, because the state had been held at that instant already: a sign of a
lifecycle that flaps.';
comment on column svc.blocked_transitions.environment_id is 'The environment.';
comment on column svc.blocked_transitions.customer_id is 'The customer.';
comment on column svc.blocked_transitions.from_state is 'The state that was not left.';
comment on column svc.blocked_transitions.to_state is 'The state that was not entered.';
comment on column svc.blocked_transitions.blocked_at is 'The last instant at which it was blocked.';

create table svc.segment_memberships (
  environment_id integer not null,
  segment_id text not null collate "C",
  customer_id text not null collate "C",
  entered_at timestamptz not null,
  exited_at timestamptz,
  primary key (environment_id, customer_id, segment_id)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
comment on table svc.segment_memberships is 'The present or last membership of a customer in a segment. Earlier ones are in svc.emissions.';
comment on column svc.segment_memberships.environment_id is 'The environment.';
comment on column svc.segment_memberships.segment_id is 'The segment.';
comment on column svc.segment_memberships.customer_id is 'The customer.';
comment on column svc.segment_memberships.entered_at is 'When the customer entered.';
comment on column svc.segment_memberships.exited_at is 'When the customer left; null for a member.';
create index segment_memberships_members_idx on svc.segment_memberships (environment_id, segment_id, customer_id) include (entered_at)
where exited_at is null;
