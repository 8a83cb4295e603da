-- Evaluated events of a customer, that is those without an inbox row, after a position in their order of occurrence (to the microsecond)
-- and acceptance, at most row_limit; with the properties of the named events. What waits was mostly accepted after everything that was
-- evaluated, so only events after the first waiting operation are looked up in the inbox.
-- Raises nothing, locks nothing.
create or replace function svc.replayed_events(
  environment_id integer, customer_id text, after_at timestamptz, after_seq bigint, property_events text[], row_limit integer
)
returns table (event_seq bigint, event text, occurred_at timestamptz, properties jsonb)
language sql
stable
set search_path = ''
as $$
  select
    e.event_seq, e.event, e.occurred_at,
    case when e.event = any(replayed_events.property_events) then e.properties end
  from (
    select (
      select i.seq
      from svc.inbox as i
      where i.environment_id = replayed_events.environment_id and i.customer_id = replayed_events.customer_id
      order by i.seq
      limit 1
    ) as first_seq
    offset 0
  ) as w
  cross join svc.events as e
  where e.environment_id = replayed_events.environment_id
    and e.customer_id = replayed_events.customer_id
    and (e.occurred_at, e.event_seq) > (replayed_events.after_at, replayed_events.after_seq)
    and (
      w.first_seq is null
      or e.event_seq < w.first_seq
      -- Looked up by key for each: `not exists` might collect all that waits.
      or (
        select true
        from svc.inbox as i
        where i.environment_id = replayed_events.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
      ) is null
    )
  order by e.occurred_at, e.event_seq
  limit replayed_events.row_limit;
$$;

comment on function svc.replayed_events(integer, text, timestamptz, bigint, text[], integer) is
  'Evaluated events of a customer, after a position in their order.';
