-- An instant as every document shows it: ISO 8601 in UTC with milliseconds, floored.
-- Raises nothing, locks nothing.
create or replace function svc.iso(instant timestamptz)
returns text
language sql
-- As to_char is declared: a function that promises more than its body is not inlined, and a page of a list calls this hundreds of times.
stable
strict
parallel safe
return to_char(date_trunc('milliseconds', instant at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function svc.iso(timestamptz) is 'ISO 8601 in UTC with milliseconds, for example 2026-03-02T10:00:00.000Z.';
