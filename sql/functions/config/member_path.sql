-- The path of a member of an object in diagnostics: path.key, or path["a key"] if the key is not a plain word. Very long keys are cut.
-- Raises nothing, locks nothing.
create or replace function svc.member_path(path text, key text)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return case
  when key ~ '^[A-Za-z_$][A-Za-z0-9_$]*$' and length(key) <= 256 then concat(path, case when path <> '' then '.' end, key)
  when length(key) <= 256 then concat(path, '[', to_json(key), ']')
  else concat(path, '[', to_json(concat(left(key, 256), '…')), ']')
end;

comment on function svc.member_path(text, text) is 'The path of a member of an object, for diagnostics.';
