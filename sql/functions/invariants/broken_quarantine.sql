-- Differences between the quarantine and its counts, and quarantined operations that are also stored.
-- Raises nothing, locks nothing.
create or replace function svc.broken_quarantine()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  select
    'quarantine_is_counted', environment_id,
    format(
      '%s operations and %s bytes are counted; there are %s and %s', coalesce(c.operations, 0), coalesce(c.bytes, 0),
      coalesce(q.operations, 0), coalesce(q.bytes, 0)
    )
  from svc.quarantines as c
  full join (
    select o.environment_id, count(*) as operations, sum(o.bytes) as bytes
    from svc.quarantined_operations as o
    group by o.environment_id
  ) as q using (environment_id)
  where (coalesce(c.operations, 0), coalesce(c.bytes, 0)) <> (coalesce(q.operations, 0), coalesce(q.bytes, 0))
  union all
  select 'operations_are_in_one_place', q.environment_id, format('the operation %s is stored, and in quarantine', q.seq)
  from svc.quarantined_operations as q
  left join svc.events as e on e.environment_id = q.environment_id and e.event_seq = q.seq
  left join svc.trait_updates as t on t.environment_id = q.environment_id and t.operation_seq = q.seq
  where e.event_seq is not null or t.operation_seq is not null
$$;

comment on function svc.broken_quarantine() is 'Invariants: operations in quarantine.';
