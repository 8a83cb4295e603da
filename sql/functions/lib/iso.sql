-- An instant in the format of all documents: ISO 8601 in UTC with milliseconds, rounded down.
-- Raises nothing, locks nothing.
create or replace function svc.iso(instant timestamptz)
returns text
language sql
-- Stable, like to_char: a function declared stricter than its body is not inlined, and one page of a list calls this hundreds of times.
stable
strict
parallel safe
return to_char(date_trunc('milliseconds', instant at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function svc.iso(timestamptz) is 'ISO 8601 in UTC with milliseconds, for example 2026-03-02T10:00:00.000Z.';
