-- A text as the value of a member of a URL's query: all but letters, digits, - . _ ~ of ASCII as the hexadecimal bytes of its UTF-8.
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
  -- Most ids are such.
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

comment on function svc.percent_encoded(text) is 'A text as the value of a member of a URL''s query.';
