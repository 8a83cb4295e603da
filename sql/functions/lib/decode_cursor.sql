-- The position that a cursor of this list encodes; null without a cursor, which means the beginning. A position matches the list's pattern.
-- Raises SV006 VALIDATION_ERROR for any text that is not a cursor of this list. Locks nothing.
create or replace function svc.decode_cursor(list text, "cursor" text, pattern text default '')
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  _secret constant bytea := (select k.secret from svc.cursor_secret as k);
  _sealed bytea;
  _plain bytea;
  _parts jsonb;
begin
  if decode_cursor.cursor is null then
    return null;
  end if;
  begin
    _sealed := decode(rpad(translate(decode_cursor.cursor, '-_', '+/'), (length(decode_cursor.cursor) + 3) / 4 * 4, '='), 'base64');
  exception
    -- All of class 22: the text is not base64.
    when data_exception then _sealed := '';
  end;
  _plain := svc.apply_keystream(substr(_sealed, 17), substr(_sealed, 1, 16), _secret);
  -- The tag matches the text, so this installation made it.
  if set_byte(substr(sha256(_secret || _plain), 1, 16), 0, 0) = substr(_sealed, 1, 16) then
    _parts := convert_from(_plain, 'UTF8')::jsonb;
  end if;
  if _parts ->> 0 is distinct from decode_cursor.list or (_parts ->> 1 ~ decode_cursor.pattern) is not true then
    raise exception using
      errcode = 'SV006',
      message = 'VALIDATION_ERROR',
      detail = jsonb_build_object(
        'message', 'The cursor is not one of this list.',
        'field', 'cursor',
        'fix', 'Pass nextCursor of the page before, unchanged, with the same filters.'
      )::text;
  end if;
  return _parts ->> 1;
end;
$$;

comment on function svc.decode_cursor(text, text, text) is 'The position that a cursor encodes; raises VALIDATION_ERROR.';
