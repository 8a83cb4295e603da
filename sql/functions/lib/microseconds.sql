-- An instant as a whole number, for positions in cursors: lossless in any year.
-- Raises nothing, locks nothing.
create or replace function svc.microseconds(instant timestamptz)
returns bigint
language sql
-- extract is only stable, because of fields that depend on the time zone; the epoch does not.
immutable
strict
parallel safe
set search_path = ''
return (extract(epoch from instant) * 1000000)::bigint;

comment on function svc.microseconds(timestamptz) is 'Microseconds since 1970 UTC.';
