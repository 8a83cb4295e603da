-- Keeps sweeps out of an environment until the transaction ends, so that what is being released is not half removed: every sweep of expired
-- operations, keys or quarantine locks this row; the last one waits for it, and the others skip an environment whose row is locked.
-- Raises nothing. Locks the environment's row of svc.retention.
create or replace function svc.lock_retention(environment_id integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  insert into svc.retention (environment_id) values (lock_retention.environment_id) on conflict do nothing;
  perform from svc.retention as r where r.environment_id = lock_retention.environment_id for update;
end;
$$;

comment on function svc.lock_retention(integer) is 'Keeps sweeps out of an environment until the transaction ends.';
