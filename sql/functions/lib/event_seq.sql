-- The number in the public id of an event; null if the text is not such an id. For users of psql: a look-up by it uses the primary key.
-- Raises nothing, locks nothing.
create or replace function svc_inspect.event_seq(event_id text)
returns bigint
language sql
immutable
strict
parallel safe
return case
  when event_seq.event_id ~ '^evt_[0-7][0-9a-f]{15}$' then ('x' || right(event_seq.event_id, 16))::bit(64)::bigint
end;

comment on function svc_inspect.event_seq(text) is 'The number in the public id of an event; null for any other text.';
