-- Whether this number of further operations fits into an environment's quarantine. Reads without a lock: concurrent calls may exceed the
-- limit by their own operations.
-- Raises nothing, locks nothing.
create or replace function svc.has_quarantine_room(environment_id integer, operations bigint)
returns boolean
language sql
stable
set search_path = ''
as $$
  select not exists (
    select 1 from svc.quarantines as q
    where q.environment_id = has_quarantine_room.environment_id
      and (q.operations + has_quarantine_room.operations > svc.quarantine_limit() or q.bytes >= 268435456)
  )
$$;

comment on function svc.has_quarantine_room(integer, bigint) is 'Whether this number of further operations fits into the quarantine.';
