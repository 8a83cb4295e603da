--! Previous: sha1:fbd1b6cd409457ad73440f5399520ec27522efb7
--! Hash: sha1:bb78424d3bf85faabfa2ac4c3bc474a9de528ff2

alter table svc.environments add column if not exists frozen_at timestamptz, add column if not exists imported_from uuid;
comment on column svc.environments.frozen_at is
  'Since when it takes nothing, evaluates nothing and delivers nothing, because it moves to another database; null as a rule.';
comment on column svc.environments.imported_from is 'The export that it was imported from; null where it was made here.';
-- Few, and looked for by who claims deliveries.
create index if not exists environments_frozen_idx on svc.environments (environment_id) where frozen_at is not null;

create table if not exists svc.usage_checks (
  environment_id integer primary key references svc.environments on delete cascade,
  month date not null,
  counted_through bigint not null default 0,
  month_events bigint not null default 0
) with (fillfactor = 50);
comment on table svc.usage_checks is
  'How far what is stored was compared with what keys have used, one row per environment. Whoever compares holds its row.';
comment on column svc.usage_checks.environment_id is 'The environment.';
comment on column svc.usage_checks.month is 'First day of the calendar month (UTC) that month_events counts.';
comment on column svc.usage_checks.counted_through is 'Up to which batch_seq of svc.ingest_batches month_events counts.';
comment on column svc.usage_checks.month_events is 'Events that were stored in that month.';
