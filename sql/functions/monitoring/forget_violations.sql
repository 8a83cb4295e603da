-- Removes erased operations from the statistics of schema violations: a kind that only one of these violated is deleted; of other kinds
-- whose latest operation was one of these, the latest operation is no longer known.
-- Raises nothing. Locks the kinds concerned, in key order, as ingestion does.
create or replace function svc.forget_violations(environment_id integer, seqs bigint[])
returns void
language sql
volatile
set search_path = ''
as $$
  with kind as materialized (
    select s.version, s.event, s.code, s.path, s.operations
    from svc.schema_violations as s
    where s.environment_id = forget_violations.environment_id
      and s.last_seq in (select u.seq from unnest(forget_violations.seqs) as u (seq))
    order by s.version, s.event, s.code, s.path
    for update
  ),
  deleted as (
    delete from svc.schema_violations as s
    using kind as k
    where s.environment_id = forget_violations.environment_id
      and s.version = k.version and s.event = k.event and s.code = k.code and s.path = k.path
      and k.operations = 1
  )
  update svc.schema_violations as s
  set last_seq = null
  from kind as k
  where s.environment_id = forget_violations.environment_id
    and s.version = k.version and s.event = k.event and s.code = k.code and s.path = k.path
    and k.operations > 1;
$$;

comment on function svc.forget_violations(integer, bigint[]) is 'Removes erased operations from the statistics of schema violations.';
