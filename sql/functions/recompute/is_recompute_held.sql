-- Whether a session that took a job of a queue of an environment still lives and has not let go of it. Every login can take every advisory
-- lock, so that of the holder's process counts alone.
-- Raises nothing, locks nothing.
create or replace function svc.is_recompute_held(environment_id integer, lane integer)
returns boolean
language sql
volatile
set search_path = ''
begin atomic
select exists (
  select
  from svc.recomputes as r
  join pg_locks as l
    on l.pid = r.holder_pid and l.locktype = 'advisory' and l.granted and l.classid = 7501::oid and l.objid = r.holder_key::oid
    and l.objsubid = 2
  join pg_database as d on d.oid = l.database and d.datname = current_database()
  where r.environment_id = is_recompute_held.environment_id and svc.lane_of_recompute(r.kind) = is_recompute_held.lane
    and r.status = 'running'
);
end;

comment on function svc.is_recompute_held(integer, integer) is 'Whether a session that took a recompute of a queue still lives.';
