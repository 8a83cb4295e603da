create table svc.journey_runs (
  environment_id integer not null,
  customer_id text not null collate "C",
  journey_id text not null collate "C",
  run integer not null,
  status text not null,
  current_step text not null collate "C",
  -- json, not jsonb: steps are shown in the author's order.
  steps json not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  expired_at timestamptz,
  primary key (environment_id, customer_id, journey_id, run),
  constraint journey_runs_status_known check (status in ('active', 'complete', 'expired')),
  constraint journey_runs_ended_once check (
    (completed_at is not null) = (status = 'complete') and (expired_at is not null) = (status = 'expired')
  )
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
comment on table svc.journey_runs is
  'Every run of a journey by a customer. The last one is the customer''s progress; a journey that never started has none.';
comment on column svc.journey_runs.environment_id is 'The environment.';
comment on column svc.journey_runs.customer_id is 'The customer.';
comment on column svc.journey_runs.journey_id is 'The journey.';
comment on column svc.journey_runs.run is 'Counts from 1 for each customer and journey.';
comment on column svc.journey_runs.status is 'active, complete or expired.';
comment on column svc.journey_runs.current_step is 'The first step not completed; the last one of all when complete.';
comment on column svc.journey_runs.steps is 'The completed steps by id: when (ISO 8601) and by what.';
comment on column svc.journey_runs.started_at is 'When the run started.';
comment on column svc.journey_runs.completed_at is 'When the last step was completed.';
comment on column svc.journey_runs.expired_at is 'When the time for the run was over.';
create index journey_runs_active_idx on svc.journey_runs (environment_id, journey_id, customer_id) where status = 'active';
-- By what svc.is_sampled compares. Nothing in it ever changes, so updates of a run leave it alone.
create index journey_runs_sample_idx on svc.journey_runs
  (environment_id, journey_id, (hashtextextended(customer_id, 0) & 9223372036854775807));
