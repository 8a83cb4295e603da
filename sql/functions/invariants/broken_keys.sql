-- Idempotency keys without their event, and events without their key. A key outlives an event that was removed because of its age: it
-- is then in svc.retired_keys until both rows are removed.
-- Raises nothing, locks nothing.
create or replace function svc.broken_keys()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  select
    'events_have_their_key', e.environment_id,
    format(
      'the event %s has the key "%s", which %s', svc.event_id(e.event_seq), e.idempotency_key,
      case when k.event_seq is null then 'is not known' else 'belongs to ' || svc.event_id(k.event_seq) end
    )
  from (
    select s.environment_id, s.event_seq, s.idempotency_key from svc.events as s
    union all
    select t.environment_id, t.operation_seq, t.idempotency_key from svc.trait_updates as t
  ) as e
  left join svc.idempotency_keys as k on k.environment_id = e.environment_id and k.idempotency_key = e.idempotency_key
  where e.idempotency_key is not null and k.event_seq is distinct from e.event_seq
  union all
  select
    'keys_have_their_event', k.environment_id,
    format('the key "%s" belongs to the event %s, which does not exist', k.idempotency_key, svc.event_id(k.event_seq))
  from svc.idempotency_keys as k
  left join svc.events as e
    on e.environment_id = k.environment_id and e.event_seq = k.event_seq and e.idempotency_key = k.idempotency_key
  left join svc.trait_updates as t
    on t.environment_id = k.environment_id and t.operation_seq = k.event_seq and t.idempotency_key = k.idempotency_key
  left join svc.retired_keys as r
    on r.environment_id = k.environment_id and r.event_seq = k.event_seq and r.idempotency_key = k.idempotency_key
  left join svc.quarantined_operations as q
    on q.environment_id = k.environment_id and q.seq = k.event_seq and q.idempotency_key = k.idempotency_key
  where e.event_seq is null and t.operation_seq is null and r.event_seq is null and q.seq is null
  union all
  select
    'retired_keys_are_known', r.environment_id,
    format(
      'the key "%s" of the removed event %s %s', r.idempotency_key, svc.event_id(r.event_seq),
      case when e.event_seq is null then 'is not known' else 'is marked as retired, but the event exists' end
    )
  from svc.retired_keys as r
  left join svc.idempotency_keys as k
    on k.environment_id = r.environment_id and k.idempotency_key = r.idempotency_key and k.event_seq = r.event_seq
  left join svc.events as e on e.environment_id = r.environment_id and e.event_seq = r.event_seq
  where k.event_seq is null or e.event_seq is not null
$$;

comment on function svc.broken_keys() is 'Invariants: idempotency keys and their events.';
