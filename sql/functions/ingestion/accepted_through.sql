-- The last number up to which all operations of an environment are settled: stored and to be seen by the next statement, or never to come.
-- A call that is under way holds a lock that tells a batch number below its own (svc_api.ingest). Not always rising: a call may have
-- looked at the numbers long before it took the lock. Every login of the database can take such a lock; those of logins that may not
-- ingest say nothing.
-- Raises nothing, locks nothing.
create or replace function svc.accepted_through(environment_id integer)
returns bigint
language plpgsql
volatile
strict
set search_path = ''
as $$
declare
  -- Before the locks are read: a call that has none yet will have a higher number.
  _last constant bigint := coalesce(pg_sequence_last_value(svc.batch_seq(accepted_through.environment_id)), 0);
  _ingest constant regprocedure := 'svc_api.ingest(bytea, uuid, text, boolean, boolean)';
  _settled bigint;
begin
  -- The lock holds the lower 31 bits, which tell how far it lies behind the last one, or by now before it.
  select min(_last - (((_last - l.objid::bigint + 1073741824) & 2147483647) - 1073741824)) into _settled
  from pg_locks as l
  where l.locktype = 'advisory'
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.classid = (4294967296 - accepted_through.environment_id)::oid
    and l.objsubid = 2
    -- Where the holder has gone meanwhile, it counts. A login may also ingest by a role that it takes on (set role).
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
  -- least passes over null. There is no number below 1.
  return greatest(least(_settled, _last), 0) * 1024 + 1023;
end;
$$;

comment on function svc.accepted_through(integer) is 'Up to which number all operations of an environment are settled.';
