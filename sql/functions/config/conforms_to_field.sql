-- Whether a value conforms to a declared field ({type, items, enum}): whether svc.payload_diagnostics would report nothing for it, in a
-- small part of the time.
-- Raises nothing, locks nothing.
create or replace function svc.conforms_to_field(value jsonb, field jsonb)
returns boolean
language sql
immutable
parallel safe
return case
  when field ->> 'type' <> 'array' then
    svc.conforms_to_type(value, field ->> 'type')
    and case when field ? 'enum' and jsonb_typeof(value) = 'string' then field -> 'enum' ? (value #>> '{}') else true end
  when jsonb_typeof(value) <> 'array' then false
  else not exists (
    select from jsonb_array_elements(value) as i (item)
    where not svc.conforms_to_type(i.item, field #>> '{items,type}')
      or field -> 'items' ? 'enum' and jsonb_typeof(i.item) = 'string' and not (field #> '{items,enum}') ? (i.item #>> '{}')
  )
end;

comment on function svc.conforms_to_field(jsonb, jsonb) is 'Whether a value conforms to a declared field.';
