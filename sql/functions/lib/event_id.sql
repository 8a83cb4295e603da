-- The public id of an event. Fixed width, so that ids sort in order of acceptance.
-- Raises nothing, locks nothing.
create or replace function svc.event_id(event_seq bigint)
returns text
language sql
immutable
strict
parallel safe
return 'evt_' || lpad(to_hex(event_seq), 16, '0');

comment on function svc.event_id(bigint) is 'Public id of an event, evt_ and 16 hex digits; sorts in order of acceptance.';
