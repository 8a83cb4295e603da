-- Makes the opaque text from which a list continues: the list's name and the last position on the page, sealed with the installation's
-- secret, as base64url. Sealed because positions hold numbers shared by all organizations, which would show each how active the others are.
-- Raises no_data_found (P0002) if the installation has lost its secret, because a list would end there. Locks nothing.
create or replace function svc.encode_cursor(list text, after text)
returns text
language plpgsql
stable
strict
parallel safe
set search_path = ''
as $$
declare
  _plain constant bytea := convert_to(json_build_array(encode_cursor.list, encode_cursor.after)::text, 'UTF8');
  _secret bytea;
  _tag bytea;
begin
  select k.secret into strict _secret from svc.cursor_secret as k;
  -- Begins with A: a cursor that began with - would look like an option on a command line.
  _tag := set_byte(substr(sha256(_secret || _plain), 1, 16), 0, 0);
  return rtrim(translate(encode(_tag || svc.apply_keystream(_plain, _tag, _secret), 'base64'), E'+/\n', '-_'), '=');
end;
$$;

comment on function svc.encode_cursor(text, text) is 'The cursor for a position of a list.';
