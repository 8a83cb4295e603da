-- The opaque text from which a list continues: the list's name and the last position on the page, as base64url.
-- Raises nothing, locks nothing.
create or replace function svc.encode_cursor(list text, after text)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return rtrim(
  translate(encode(convert_to(json_build_array(list, after)::text, 'UTF8'), 'base64'), E'+/\n', '-_'),
  '='
);

comment on function svc.encode_cursor(text, text) is 'The cursor behind a position of a list.';
