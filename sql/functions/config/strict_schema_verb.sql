-- What the strict schema of a snapshot does with an operation that violates it, as a verb of sentences: refuses or quarantines.
-- Raises nothing, locks nothing.
create or replace function svc.strict_schema_verb(snapshot json)
returns text
language sql
immutable
parallel safe
return case strict_schema_verb.snapshot ->> 'onViolation' when 'quarantine' then 'quarantines' else 'refuses' end;

comment on function svc.strict_schema_verb(json) is 'What a strict schema does with an operation that violates it.';
