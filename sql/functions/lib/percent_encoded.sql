-- Encodes a text for the query of a URL: all but ASCII letters, digits and - . _ ~ become the hexadecimal bytes of their UTF-8.
-- Raises nothing, locks nothing.
create or replace function svc.percent_encoded(plain text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = ''
as $$
begin
  -- The usual case for ids.
  if percent_encoded.plain collate "C" !~ '[^A-Za-z0-9._~-]' then
    return percent_encoded.plain;
  end if;
  return (
    select
      string_agg(
        case
          when c.character collate "C" ~ '[A-Za-z0-9._~-]' then c.character
          else regexp_replace(upper(encode(convert_to(c.character, 'UTF8'), 'hex')), '..', '%\&', 'g')
        end,
        '' order by c.place
      )
    from string_to_table(percent_encoded.plain, null) with ordinality as c (character, place)
  );
end;
$$;

comment on function svc.percent_encoded(text) is 'A text, percent-encoded for the query of a URL.';
