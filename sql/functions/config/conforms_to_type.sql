-- Whether a value has a declared type: string, number, boolean, date or array. The items of an array are not checked.
-- Raises nothing, locks nothing. No search_path, because setting it would take longer than the rest.
create or replace function svc.conforms_to_type(value jsonb, type text)
returns boolean
language sql
immutable
strict
parallel safe
return case type
  when 'date' then case when jsonb_typeof(value) = 'string' then svc.is_iso_date(value #>> '{}') else false end
  else jsonb_typeof(value) = type
end;

comment on function svc.conforms_to_type(jsonb, text) is 'Whether a value has a declared type.';
