-- Whether a text is a date in the sense of a model: an ISO 8601 date of the calendar, or a date-time with a zone. Hour 24 and leap
-- seconds are rejected. The same rule as isIsoDate in src/model.
-- Raises nothing, locks nothing.
create or replace function svc.is_iso_date(value text)
returns boolean
language sql
immutable
strict
parallel safe
set search_path = ''
return case
  when value !~ concat(
    '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])',
    '(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$'
  ) then false
  when substr(value, 6, 5) in ('02-30', '02-31', '04-31', '06-31', '09-31', '11-31') then false
  when substr(value, 6, 5) = '02-29' then
    substr(value, 1, 4)::integer % 4 = 0 and (substr(value, 1, 4)::integer % 100 <> 0 or substr(value, 1, 4)::integer % 400 = 0)
  else true
end;

comment on function svc.is_iso_date(text) is 'Whether a text is an ISO 8601 date, or date-time with a zone.';
