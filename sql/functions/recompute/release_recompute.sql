-- Releases a job that this session holds. One that is still running, because its worker stops, is queued again; that is no failure.
-- Raises nothing. Locks the job's row; ends the session's advisory lock.
create or replace function svc_api.release_recompute(environment_id integer, recompute_id text, attempt integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update svc.recomputes as r
  set status = 'queued'
  where r.environment_id = release_recompute.environment_id and r.recompute_id = release_recompute.recompute_id
    and r.attempt = release_recompute.attempt and r.status = 'running';
  perform pg_advisory_unlock_all();
end;
$$;

comment on function svc_api.release_recompute(integer, text, integer) is 'Releases a recompute that this session holds.';
