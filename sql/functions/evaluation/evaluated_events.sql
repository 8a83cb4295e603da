-- The evaluated events of one name of a customer that occurred in [from_at, to_at): those that have no inbox row. Written to be inlined,
-- so that the caller's order and limit reach the index of a customer's events.
-- Raises nothing, locks nothing.
create or replace function svc.evaluated_events(
  environment_id integer, customer_id text, event text, from_at timestamptz, to_at timestamptz
)
returns table (event_seq bigint, occurred_at timestamptz, properties jsonb)
language sql
stable
begin atomic
  select e.event_seq, e.occurred_at, e.properties
  from svc.events as e
  left join lateral (
    select true as waits
    from svc.inbox as i
    where i.environment_id = e.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
    limit 1
  ) as p on true
  where e.environment_id = evaluated_events.environment_id
    and e.customer_id = evaluated_events.customer_id
    and e.event = evaluated_events.event
    and e.occurred_at >= evaluated_events.from_at
    and e.occurred_at < evaluated_events.to_at
    and p.waits is null;
end;

comment on function svc.evaluated_events(integer, text, text, timestamptz, timestamptz) is
  'The evaluated events of one name of a customer, of a range of time.';
