-- Removes those of the named operations that are still in quarantine, and answers them. If they are discarded, their idempotency keys are
-- removed with them: an operation sent later with such a key is a new one.
-- Raises nothing. Locks the operations, their keys if they are discarded, then the environment's row of svc.quarantines.
create or replace function svc.take_from_quarantine(environment_id integer, seqs bigint[], discarded boolean)
returns setof svc.quarantined_operations
language sql
volatile
set search_path = ''
as $$
  with taken as (
    delete from svc.quarantined_operations as q
    where q.environment_id = take_from_quarantine.environment_id and q.seq = any(take_from_quarantine.seqs)
    returning q.*
  ),
  forgotten as (
    delete from svc.idempotency_keys as k
    where k.environment_id = take_from_quarantine.environment_id and k.ctid = any(array(
      select p.ctid
      from taken as t
      cross join lateral (
        select i.ctid
        from svc.idempotency_keys as i
        where i.environment_id = take_from_quarantine.environment_id and i.idempotency_key = t.idempotency_key and i.event_seq = t.seq
        limit 1
      ) as p
      where take_from_quarantine.discarded
    ))
  ),
  counted as (
    update svc.quarantines as q
    set
      operations = q.operations - n.operations,
      bytes = q.bytes - n.bytes,
      events_discarded = q.events_discarded + case when take_from_quarantine.discarded then n.events else 0 end
    from (select count(*) as operations, count(t.event) as events, sum(t.bytes) as bytes from taken as t) as n
    where q.environment_id = take_from_quarantine.environment_id and n.operations > 0
  )
  select t.* from taken as t;
$$;

comment on function svc.take_from_quarantine(integer, bigint[], boolean) is 'Removes operations from quarantine and answers them.';
