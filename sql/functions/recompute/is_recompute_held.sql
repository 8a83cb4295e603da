-- Whether a session that claimed a job of an environment's queue is still alive and has not released it. Every login can take every
-- advisory lock, so only a lock of the holder's process counts.
-- Raises nothing, locks nothing.
create or replace function svc.is_recompute_held(environment_id integer, lane integer)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
declare
  _pids integer[];
  _keys integer[];
begin
  -- First the jobs, then the locks: in a cluster they are not on the same node.
  select array_agg(r.holder_pid), array_agg(r.holder_key) into _pids, _keys
  from svc.recomputes as r
  where r.environment_id = is_recompute_held.environment_id and svc.recompute_lane(r.kind) = is_recompute_held.lane
    and r.status = 'running';
  return exists (
    select
    from unnest(_pids, _keys) as r (pid, key)
    join pg_locks as l
      on l.pid = r.pid and l.locktype = 'advisory' and l.granted and l.classid = 7501::oid and l.objid = r.key::oid and l.objsubid = 2
    join pg_database as d on d.oid = l.database and d.datname = current_database()
  );
end;
$$;

comment on function svc.is_recompute_held(integer, integer) is 'Whether a session that claimed a recompute of a queue is still alive.';
