-- An event as lists and streams show it; pending while it has an inbox row. Null for an event that does not exist.
-- Raises nothing, locks nothing.
create or replace function svc.event_item(environment_id integer, event_seq bigint)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  select json_build_object(
    'eventId', svc.event_id(e.event_seq),
    'id', svc.event_id(e.event_seq),
    'customerId', e.customer_id,
    'event', e.event,
    'properties', e.properties,
    'occurredAt', svc.iso(e.occurred_at),
    'acceptedAt', svc.iso(e.accepted_at),
    'status', case
      when exists (
        select from svc.inbox as i
        where i.environment_id = e.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
      ) then 'pending'
      else 'processed'
    end
  )
  from svc.events as e
  where e.environment_id = event_item.environment_id and e.event_seq = event_item.event_seq;
end;

comment on function svc.event_item(integer, bigint) is 'An event as lists and streams show it.';
