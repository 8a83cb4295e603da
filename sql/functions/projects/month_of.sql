-- The first day of the calendar month (UTC) of an instant: the month that a quota counts.
-- Raises nothing, locks nothing.
create or replace function svc.month_of(at timestamptz)
returns date
language sql
immutable
strict
parallel safe
return date_trunc('month', at at time zone 'UTC')::date;

comment on function svc.month_of(timestamptz) is 'First day of the calendar month (UTC) of an instant.';
