-- The highest number up to which all operations of an environment are settled: stored and visible to the next statement, or never to be
-- stored. Each call in progress holds a lock whose key is a batch number below its own (svc_api.ingest). The answer does not always rise: a
-- call may have read the numbers long before it took the lock. Any login of the database can take such a lock, so locks of logins that may
-- not ingest are ignored.
-- Raises nothing, locks nothing.
create or replace function svc.accepted_through(environment_id integer)
returns bigint
language plpgsql
volatile
strict
set search_path = ''
as $$
declare
  -- Read before the locks: a call that holds none yet will get a higher number.
  _last constant bigint := coalesce(pg_sequence_last_value(svc.batch_seq(accepted_through.environment_id)), 0);
  _ingest constant regprocedure := 'svc_api.ingest(bytea, uuid, text, boolean, boolean)';
  _settled bigint;
begin
  -- The key is the lower 31 bits of a number, compared with those of the last one; the number may have become higher than the last one
  -- read.
  select min(_last - (((_last - l.objid::bigint + 1073741824) & 2147483647) - 1073741824)) into _settled
  from pg_locks as l
  where l.locktype = 'advisory'
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.classid = (4294967296 - accepted_through.environment_id)::oid
    and l.objsubid = 2
    -- If the holder has disconnected meanwhile, its lock counts. A login may also ingest through a role that it assumes (set role).
    and coalesce(
      (
        select
          has_function_privilege(a.usesysid, _ingest, 'execute')
          or exists (
            select from pg_roles as r
            where pg_has_role(a.usesysid, r.oid, 'member') and has_function_privilege(r.oid, _ingest, 'execute')
          )
        from pg_stat_get_activity(l.pid) as a
      ),
      true
    );
  -- least ignores null. There is no number below 1.
  return greatest(least(_settled, _last), 0) * 1024 + 1023;
end;
$$;

comment on function svc.accepted_through(integer) is 'The number up to which all operations of an environment are settled.';
