-- How the containers in a payload are nested, as text: empty for a flat payload, else its canonical text, in which numbers have no
-- trailing zeros. jsonb_hash_extended needs it as a complement, because it does not see where an object or a list ends:
-- {"a": {"b": 1}, "c": 2} and {"a": {"b": 1, "c": 2}} have one hash. Equal payloads have equal texts.
-- Raises nothing, locks nothing.
create or replace function svc.nesting(payload jsonb)
returns text
language sql
immutable
parallel safe
return case
  when payload @? 'strict $.* ? (@.type() == "object" || @.type() == "array")'
    then regexp_replace(payload::text, '(\.\d*[1-9])0+(?=[],}])|\.0+(?=[],}])', '\1', 'g')
  else ''
end;

comment on function svc.nesting(jsonb) is 'How the containers in a payload are nested, as text; empty for a flat one.';
