-- The instant that svc.microseconds turned into a number. It is added up in parts, because a double cannot hold microseconds in all years.
-- Raises nothing for a number of up to 18 digits, locks nothing.
create or replace function svc.instant_of(microseconds bigint)
returns timestamptz
language sql
-- Adding days or months to an instant depends on the time zone; adding hours does not.
immutable
strict
parallel safe
set search_path = ''
return timestamptz 'epoch'
  + make_interval(hours => (microseconds / 3600000000)::integer)
  + make_interval(secs => (microseconds % 3600000000) / 1000000.0);

comment on function svc.instant_of(bigint) is 'The instant of a number of microseconds since 1970 UTC.';
