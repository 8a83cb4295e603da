-- The reasons why a process is not ready, as [{name, message}] for GET /readyz; that this answers at all shows that the database is up.
-- filenames and hashes are the migrations that the process knows. Further ones in the database are no failure: they come from a newer
-- version that runs at the same time. A read-only database answers, but nothing can be accepted or evaluated there; nor where commits wait
-- for a synchronous standby, so that no worker can send its heartbeat either.
-- Raises nothing, locks nothing.
create or replace function svc_api.failed_checks(filenames text[], hashes text[])
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(json_agg(json_build_object('name', c.name, 'message', c.message) order by c.place), '[]')
  from (
    select 1, 'database', case
      when pg_is_in_recovery() then 'The database is read-only: it is a standby.'
      else 'The database is read-only: default_transaction_read_only is on.'
    end
    where pg_is_in_recovery() or current_setting('transaction_read_only')::boolean
    union all
    -- Only sessions of the owner are seen, but workers and direct connections are among them.
    select 1, 'database', 'Commits wait for a synchronous standby that does not answer.'
    where exists (
      select
      from pg_stat_activity as a
      where a.datname = current_database() and a.wait_event = 'SyncRep' and a.query_start < now() - interval '5 seconds'
    )
    union all
    select 2, 'migrations', format('The database lacks the migration %s of this program.', min(k.filename))
    from unnest(failed_checks.filenames, failed_checks.hashes) as k (filename, hash)
    where not exists (select from graphile_migrate.migrations as m where m.hash = k.hash)
    having count(*) > 0
    union all
    select 3, 'worker', 'No worker has sent a heartbeat for 30 seconds.'
    where not exists (select from svc.workers as w where svc.is_alive(w.seen_at))
  ) as c (place, name, message);
$$;

comment on function svc_api.failed_checks(text[], text[]) is 'Why a process is not ready, for GET /readyz; empty if it is ready.';
