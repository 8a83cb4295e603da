-- An event as lists and streams show it; it is pending while it has an inbox row.
-- Raises nothing, locks nothing.
create or replace function svc.event_item(
  event_seq bigint, customer_id text, event text, properties jsonb, occurred_at timestamptz, accepted_at timestamptz, pending boolean
)
returns json
language sql
stable
parallel safe
return json_build_object(
  'eventId', svc.event_id(event_item.event_seq),
  'id', svc.event_id(event_item.event_seq),
  'customerId', event_item.customer_id,
  'event', event_item.event,
  'properties', event_item.properties,
  'occurredAt', svc.iso(event_item.occurred_at),
  'acceptedAt', svc.iso(event_item.accepted_at),
  'status', case when event_item.pending then 'pending' else 'processed' end
);

comment on function svc.event_item(bigint, text, text, jsonb, timestamptz, timestamptz, boolean) is
  'An event as lists and streams show it.';
