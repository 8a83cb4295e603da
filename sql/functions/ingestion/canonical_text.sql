-- A payload as text, the same for equal payloads: keys are in the order of jsonb, and numbers have no trailing zeros (1.0 is 1). Text in
-- a string that looks like the end of such a number loses zeros too, so two different payloads may have one text; svc.payload_hash
-- therefore adds a hash that sees strings.
-- Raises nothing, locks nothing.
create or replace function svc.canonical_text(payload jsonb)
returns text
language sql
immutable
parallel safe
return case
  -- Most payloads have no fraction with a zero and need no regular expression.
  when payload::text like '%.%0%' then regexp_replace(payload::text, '(\.\d*[1-9])0+(?=[],}])|\.0+(?=[],}])', '\1', 'g')
  else payload::text
end;

comment on function svc.canonical_text(jsonb) is 'A payload as text, the same for equal payloads.';
