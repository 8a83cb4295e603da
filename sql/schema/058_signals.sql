create table svc.signals (
  environment_id integer not null,
  customer_id text not null collate "C",
  signal_id text not null collate "C",
  severity text not null,
  message text,
  raised_at timestamptz not null,
  cleared_at timestamptz,
  primary key (environment_id, customer_id, signal_id),
  constraint signals_severity_known check (severity in ('info', 'warning', 'critical'))
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
comment on table svc.signals is 'The present or last raise of a signal for a customer. Earlier ones are in svc.emissions.';
comment on column svc.signals.environment_id is 'The environment.';
comment on column svc.signals.customer_id is 'The customer.';
comment on column svc.signals.signal_id is 'The signal.';
comment on column svc.signals.severity is 'info, warning or critical, as declared when it was raised.';
comment on column svc.signals.message is 'The message declared when it was raised.';
comment on column svc.signals.raised_at is 'When it was raised.';
comment on column svc.signals.cleared_at is 'When it was cleared; null while it is raised.';
create index signals_raised_idx on svc.signals (environment_id, signal_id, customer_id) where cleared_at is null;
-- The last raised first; they are few beside the customers.
create index signals_newest_idx on svc.signals (environment_id, raised_at, signal_id, customer_id) where cleared_at is null;
