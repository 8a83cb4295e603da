--! Previous: sha1:a81ad531fa8fb599f3c9336d1ae704abb08b370a
--! Hash: sha1:fbd1b6cd409457ad73440f5399520ec27522efb7

-- What an environment owns refers to nothing outside of it, so that all of it can lie on another node. Environments are never deleted.
alter table svc.webhooks drop constraint if exists webhooks_environment_id_fkey;
alter table svc.quarantines drop constraint if exists quarantines_environment_id_fkey;
alter table svc.trend_progress drop constraint if exists trend_progress_environment_id_fkey;
alter table svc.retention drop constraint if exists retention_environment_id_fkey;

-- Its rows come with the trigger that adds them from then on (sql/triggers/environments__start_numbers.sql).
create table if not exists svc.homes (
  environment_id integer primary key,
  name text not null
);
comment on table svc.homes is 'One row per environment, which lies where the data of the environment lies.';
comment on column svc.homes.environment_id is 'The environment.';
comment on column svc.homes.name is 'test or live, as in svc.environments, for statements that run there.';
