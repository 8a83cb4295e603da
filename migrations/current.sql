-- Statements that bring a database of the last release to sql/schema; see README.md.
alter table svc.environments add column if not exists frozen_at timestamptz, add column if not exists imported_from uuid;
comment on column svc.environments.frozen_at is
  'Since when it takes nothing, evaluates nothing and delivers nothing, because it moves to another database; null as a rule.';
comment on column svc.environments.imported_from is 'The export that it was imported from; null where it was made here.';
-- Few, and looked for by who claims deliveries.
create index if not exists environments_frozen_idx on svc.environments (environment_id) where frozen_at is not null;
