-- An operation in quarantine as lists show it. eventId is the id that its event will have; an identify has none.
-- Raises nothing, locks nothing.
create or replace function svc.quarantined_item(operation svc.quarantined_operations)
returns json
language sql
stable
set search_path = ''
return json_build_object(
  'quarantineId', svc.quarantined_id((operation).seq),
  'eventId', case when (operation).event is not null then svc.event_id((operation).seq) end,
  'customerId', nullif((operation).customer_id, ''),
  'event', nullif((operation).event, ''),
  'operation', coalesce((operation).call, (operation).operation),
  'idempotencyKey', (operation).idempotency_key,
  'quarantinedAt', svc.iso((operation).quarantined_at),
  'configVersion', 'v' || nullif((operation).version, 0),
  'code', (operation).code,
  'message', (operation).message,
  'path', (operation).path,
  'violations', (operation).violations
);

comment on function svc.quarantined_item(svc.quarantined_operations) is 'An operation in quarantine as lists show it.';
