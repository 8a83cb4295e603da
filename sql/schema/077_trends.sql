create table svc.trend_counts (
  environment_id integer not null,
  measure text not null collate "C",
  day date not null,
  name text not null collate "C",
  value text not null collate "C",
  count bigint not null,
  amount numeric not null default 0,
  primary key (environment_id, measure, day, name, value),
  constraint trend_counts_measure_known check (
    measure in ('lifecycle', 'health', 'score', 'segment', 'signal', 'active', 'operation', 'delivery')
  )
) with (fillfactor = 80);
comment on table svc.trend_counts is
  'What changed on each day, counted: sums of it are how many customers stood where. Kept up by svc_api.count_trends.';
comment on column svc.trend_counts.environment_id is 'The environment.';
comment on column svc.trend_counts.measure is 'lifecycle, health, score, segment, signal, active, operation or delivery.';
comment on column svc.trend_counts.day is
  'The day in the time zone of the organization; of active customers the first day of the period.';
comment on column svc.trend_counts.name is
  'lifecycle: the state left, empty for none; health: the band; segment, signal: which; active: day, week or month; operation: event or
identify; delivery: the webhook.';
comment on column svc.trend_counts.value is
  'lifecycle: the state entered; score: in whole points; segment: entered or exited; signal: raised or cleared; delivery: delivered or
failed; else empty.';
comment on column svc.trend_counts.count is
  'How many there were; of bands and scores how many customers came to have it less how many ceased to.';
comment on column svc.trend_counts.amount is 'Of bands and scores the sum of the scores, counted alike; else 0.';

create table svc.trend_changes (
  environment_id integer not null,
  change_seq bigint generated always as identity,
  measure text not null collate "C",
  day date not null,
  name text not null collate "C",
  value text not null collate "C",
  count bigint not null,
  amount numeric not null default 0,
  primary key (environment_id, change_seq)
) with (autovacuum_vacuum_scale_factor = 0.02);
comment on table svc.trend_changes is
  'What is still to be added to svc.trend_counts. Whoever writes a log writes here in the same transaction and waits for nobody; figures are
sums over both.';
comment on column svc.trend_changes.environment_id is 'The environment.';
comment on column svc.trend_changes.change_seq is 'Order of writing.';
comment on column svc.trend_changes.measure is 'As in svc.trend_counts; so are the others.';
comment on column svc.trend_changes.day is 'The day.';
comment on column svc.trend_changes.name is 'The name.';
comment on column svc.trend_changes.value is 'The value.';
comment on column svc.trend_changes.count is 'To be added; below zero where a recompute or an erasure takes something out.';
comment on column svc.trend_changes.amount is 'To be added.';

create table svc.trend_progress (
  environment_id integer primary key,
  counted_through bigint not null default 0,
  outdated_since xid8 default '0'
) with (fillfactor = 50);
comment on table svc.trend_progress is 'How far the trends of an environment were counted. Whoever counts holds its row.';
comment on column svc.trend_progress.environment_id is 'The environment.';
comment on column svc.trend_progress.counted_through is
  'Up to which batch_seq of svc.ingest_batches operations and active customers were counted.';
comment on column svc.trend_progress.outdated_since is
  'Set while the counts are still to be made equal to the logs: at first, because what was logged before this table was there is not
counted, and after a change of the time zone. First 0, then the transaction before which all others must have ended. Null once it is
done.';
