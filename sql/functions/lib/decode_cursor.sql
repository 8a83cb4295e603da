-- The position that a cursor of this list stands for; null for no cursor, which is the beginning. A position matches the list's pattern.
-- Raises SV006 VALIDATION_ERROR for anything that is no cursor of this list. Locks nothing.
create or replace function svc.decode_cursor(list text, "cursor" text, pattern text default '')
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  _parts jsonb;
begin
  if decode_cursor.cursor is null then
    return null;
  end if;
  begin
    _parts := convert_from(
      decode(rpad(translate(decode_cursor.cursor, '-_', '+/'), (length(decode_cursor.cursor) + 3) / 4 * 4, '='), 'base64'),
      'UTF8'
    )::jsonb;
  exception
    -- All of class 22: no base64, no UTF-8, no JSON.
    when data_exception then _parts := null;
  end;
  if jsonb_typeof(_parts) is distinct from 'array'
    or _parts ->> 0 is distinct from decode_cursor.list
    or coalesce(_parts ->> 1, '') !~ decode_cursor.pattern
    or _parts ->> 1 is null
  then
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

comment on function svc.decode_cursor(text, text, text) is 'The position behind a cursor; raises VALIDATION_ERROR.';
