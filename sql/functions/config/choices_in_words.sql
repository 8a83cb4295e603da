-- The values of an enum as a list in a sentence, shortened where there are many.
-- Raises nothing, locks nothing.
create or replace function svc.choices_in_words(choices jsonb)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return (
  select concat(
    string_agg(left(c.choice::text, 256), ', ' order by c.ordinality),
    case when jsonb_array_length(choices) > 12 then ', …' end
  )
  from jsonb_array_elements(choices) with ordinality as c (choice)
  where c.ordinality <= 12
);

comment on function svc.choices_in_words(jsonb) is 'The values of an enum, for messages.';
