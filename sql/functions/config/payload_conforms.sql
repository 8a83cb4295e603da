-- Whether a payload conforms to the declared fields that names and predicate were made of: the fast path of ingestion. It is not true
-- for any other payload, nor for a few that conform (dates on the 29th of February): svc.payload_diagnostics decides. That there are no
-- other members is asked without jsonpath, which takes ten times as long for it. No search_path, so that it is inlined.
-- Raises nothing, locks nothing.
create or replace function svc.payload_conforms(payload jsonb, names text[], predicate jsonpath)
returns boolean
language sql
immutable
parallel safe
return payload - names = '{}' and payload @@ predicate;

comment on function svc.payload_conforms(jsonb, text[], jsonpath) is 'Whether a payload surely conforms to declared fields.';
