-- The first instant of a day in a time zone: the first for which (instant at time zone zone)::date is that day, or a later one if the zone
-- skipped the day. Where clocks are set back at midnight, `day at time zone` is the second of two midnights, so it does not serve.
-- Raises nothing, locks nothing.
create or replace function svc.start_of_day(day date, zone text)
returns timestamptz
language plpgsql
immutable
strict
parallel safe
set search_path = ''
as $$
declare
  _midnight constant timestamptz := start_of_day.day::timestamp at time zone start_of_day.zone;
  -- Seconds before that midnight, for a binary search: _within is in the day or after it, _before is earlier.
  _within integer := 0;
  _before integer := 172800;
  _between integer;
begin
  if ((_midnight - interval '1 microsecond') at time zone start_of_day.zone)::date < start_of_day.day then
    return _midnight;
  end if;
  while _before - _within > 1 loop
    _between := (_before + _within) / 2;
    if ((_midnight - _between * interval '1 second') at time zone start_of_day.zone)::date < start_of_day.day then
      _before := _between;
    else
      _within := _between;
    end if;
  end loop;
  return _midnight - _within * interval '1 second';
end;
$$;

comment on function svc.start_of_day(date, text) is 'The first instant of a day in a time zone.';
