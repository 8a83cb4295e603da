--! Previous: sha1:022e42a460f6f14878f26c2eeebfe3d88ea1bc41
--! Hash: sha1:9e4034146c3396f10f18b5da0423de9f060ba97b

-- Statistics of what grows are taken after a fiftieth of it has changed, not a tenth; a lock that stops nobody, for an instant.
alter table svc.events set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.trait_updates set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.idempotency_keys set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.customers set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
alter table svc.lifecycle_transitions set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.segment_memberships set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
alter table svc.journey_runs set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
alter table svc.health_scores set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.rule_executions set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.signals set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
alter table svc.emissions set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table svc.deliveries set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
alter table svc.delivery_attempts set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- What a run of a rule emitted, and how long superseded histories are kept: both are changes of the catalog alone.
alter table svc.rule_executions add column if not exists emission_seq bigint;
comment on column svc.rule_executions.emission_seq is
  'What it emitted, which no other run made; null for nothing, for runs of a replay, and of versions of the service before this column.';
alter table iam.plans add column if not exists superseded_days integer default 90;
alter table iam.plans drop constraint if exists plans_superseded_days_range;
alter table iam.plans add constraint plans_superseded_days_range check (superseded_days between 1 and 36500);
comment on column iam.plans.superseded_days is
  'How many days of 24 hours the history of a customer is kept that a recompute superseded; null for ever.';
comment on table svc.superseded_logs is
  'Customers whose logs a recompute wrote anew: those of earlier generations are removed when the plan''s days are over.';

-- Stops writes to svc.signals while it is built: a second for a million signals.
create index if not exists signals_newest_idx on svc.signals (environment_id, raised_at, signal_id, customer_id) where cleared_at is null;
