-- Whether a payload conforms to the declared fields from which names and predicate were compiled: the fast path of ingestion. It is false
-- for all other payloads, and for a few that conform (dates on the 29th of February): svc.payload_diagnostics decides. The absence of
-- other members is checked without jsonpath, which would take ten times as long. No search_path, so that it is inlined.
-- Raises nothing, locks nothing.
create or replace function svc.payload_conforms(payload jsonb, names text[], predicate jsonpath)
returns boolean
language sql
immutable
parallel safe
return payload - names = '{}' and payload @@ predicate;

comment on function svc.payload_conforms(jsonb, text[], jsonpath) is 'Whether a payload certainly conforms to declared fields.';
