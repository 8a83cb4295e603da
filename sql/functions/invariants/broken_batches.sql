-- Differences between accepted and stored operations. An erasure deletes operations and leaves their batch unchanged; the audit log
-- records how many it deleted. Quarantined operations are stored, too, and those discarded from there are counted. Retention deletes
-- operations first, and the batch with the last of them, and counts both. So a batch may have fewer operations than it states, and the sums
-- show whether everything that is missing was removed.
-- Raises nothing, locks nothing.
create or replace function svc.broken_batches()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with stored as (
    select e.environment_id, e.seq >> 10 as batch_seq, count(*) as events
    from (
      select s.environment_id, s.event_seq as seq from svc.events as s
      union all
      select q.environment_id, q.seq from svc.quarantined_operations as q where q.event is not null
    ) as e
    group by e.environment_id, e.seq >> 10
  ),
  updated as (
    select t.environment_id, t.seq >> 10 as batch_seq, count(*) as updates
    from (
      select u.environment_id, u.operation_seq as seq from svc.trait_updates as u
      union all
      select q.environment_id, q.seq from svc.quarantined_operations as q where q.event is null
    ) as t
    group by t.environment_id, t.seq >> 10
  ),
  batches as (
    select
      environment_id, batch_seq, b.batch_seq as accepted_as, b.tracked, b.identified, coalesce(s.events, 0) as events,
      coalesce(u.updates, 0) as updates
    from svc.ingest_batches as b
    full join stored as s using (environment_id, batch_seq)
    full join updated as u using (environment_id, batch_seq)
  ),
  sums as (
    select b.environment_id, sum(b.tracked) as accepted, sum(b.events) as stored
    from batches as b
    group by b.environment_id
  ),
  accounts as (
    select
      s.environment_id, s.stored,
      coalesce(s.accepted, 0) + coalesce(r.batch_events_removed, 0) - coalesce(r.events_removed, 0) - coalesce(x.events, 0)
        - coalesce(q.events_discarded, 0) as expected
    from sums as s
    left join svc.retention as r on r.environment_id = s.environment_id
    left join svc.erased_rows() as x on x.environment_id = s.environment_id
    left join svc.quarantines as q on q.environment_id = s.environment_id
  )
  select
    'operations_belong_to_a_call', b.environment_id,
    format('%s events and %s trait updates of the call %s, which does not exist', b.events, b.updates, b.batch_seq)
  from batches as b
  where b.accepted_as is null
  union all
  select
    'calls_hold_what_they_stored', b.environment_id,
    format(
      'the call %s stored %s events and %s trait updates; there are %s and %s', b.batch_seq, b.tracked, b.identified, b.events, b.updates
    )
  from batches as b
  where b.events > b.tracked or b.updates > b.identified
  union all
  select
    'acknowledged_events_are_stored', a.environment_id,
    format('%s events were acknowledged and neither erased nor removed because of their age; there are %s', a.expected, a.stored)
  from accounts as a
  where a.stored <> a.expected
  union all
  select
    'removal_leaves_nothing_behind', b.environment_id,
    format('the call %s is still there, although everything up to the call %s was removed', b.batch_seq, r.swept_through)
  from svc.ingest_batches as b
  join svc.retention as r on r.environment_id = b.environment_id
  where b.batch_seq <= r.swept_through
  union all
  select 'rows_belong_to_an_environment', b.environment_id, format('the call %s', b.batch_seq)
  from svc.ingest_batches as b
  left join svc.environments as e on e.environment_id = b.environment_id
  where e.environment_id is null
$$;

comment on function svc.broken_batches() is 'Invariants: accepted and stored operations.';
