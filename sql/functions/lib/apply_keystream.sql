-- XORs a text with the keystream derived from a secret and a tag. The same call seals a text and opens a sealed one.
-- Raises nothing, locks nothing.
create or replace function svc.apply_keystream(content bytea, tag bytea, secret bytea)
returns bytea
language plpgsql
immutable
strict
parallel safe
set search_path = ''
as $$
declare
  _result bytea := apply_keystream.content;
  _block bytea;
begin
  for _index in 0 .. length(_result) - 1 loop
    if _index % 32 = 0 then
      _block := sha256(apply_keystream.secret || apply_keystream.tag || int4send(_index));
    end if;
    _result := set_byte(_result, _index, get_byte(_result, _index) # get_byte(_block, _index % 32));
  end loop;
  return _result;
end;
$$;

comment on function svc.apply_keystream(bytea, bytea, bytea) is 'Seals a text or opens a sealed one.';
