-- Adds an ingestion key with a full rate bucket. The caller generated the key and passes only its SHA-256 and first characters.
-- Raises 23505 if the key is in use. Locks nothing beyond its rows.
create or replace function svc.add_key(environment_id integer, key_hash bytea, hint text, name text, created_by text)
returns text
language sql
volatile
set search_path = ''
as $$
  with added as (
    insert into svc.api_keys (key_hash, api_key_id, environment_id, name, hint, created_by)
    values (
      add_key.key_hash, svc.random_id('key_'), add_key.environment_id, add_key.name, add_key.hint, add_key.created_by
    )
    returning api_keys.key_hash, api_keys.api_key_id, api_keys.environment_id, api_keys.created_at
  ),
  used as (
    insert into svc.key_usage (key_hash, tokens, refilled_at, month, month_events)
    select a.key_hash, (svc.plan_of_environment(a.environment_id)).rate_burst, a.created_at, svc.month_of(a.created_at), 0
    from added as a
  )
  select a.api_key_id from added as a;
$$;

comment on function svc.add_key(integer, bytea, text, text, text) is 'Adds an ingestion key with a full rate bucket; returns its id.';
