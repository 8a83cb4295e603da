-- Rows of the inbox that refer to nothing, or would never be evaluated. Operations of a customer that does not exist yet wait as null;
-- every other value is written together with the customer's row.
-- Raises nothing, locks nothing.
create or replace function svc.broken_inbox()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  select
    'what_waits_is_stored', i.environment_id,
    format('the operation %s of the customer "%s" waits and is not stored', i.seq, i.customer_id)
  from svc.inbox as i
  left join svc.events as e on e.environment_id = i.environment_id and e.event_seq = i.seq and e.customer_id = i.customer_id
  left join svc.trait_updates as t
    on t.environment_id = i.environment_id and t.operation_seq = i.seq and t.customer_id = i.customer_id
  where e.event_seq is null and t.operation_seq is null
  union all
  select
    'what_is_put_off_is_due_in_time', i.environment_id,
    case
      when c.customer_id is null then format('the operation %s is deferred for the customer "%s", who does not exist', i.seq, i.customer_id)
      when i.not_before = 'infinity' then
        format('the operation %s is deferred forever, although the customer "%s" is not set aside', i.seq, i.customer_id)
      else format(
        'the operation %s of the customer "%s" waits until %s, the customer until %s', i.seq, i.customer_id, svc.iso(i.not_before),
        coalesce(svc.iso(c.next_due_at), 'an operation comes')
      )
    end
  from svc.inbox as i
  left join svc.customers as c on c.environment_id = i.environment_id and c.customer_id = i.customer_id
  where i.not_before is not null
    and (
      c.customer_id is null
      or (c.set_aside_at is null and (i.not_before = 'infinity' or (c.next_due_at <= i.not_before) is not true))
    )
$$;

comment on function svc.broken_inbox() is 'Invariants: waiting operations.';
