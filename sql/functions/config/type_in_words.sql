-- The name of a type with its article, for messages.
-- Raises nothing, locks nothing.
create or replace function svc.type_in_words(type text)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return case type
  when 'string' then 'a text'
  when 'boolean' then 'true or false'
  when 'date' then 'an ISO 8601 date, or date-time with a zone'
  when 'array' then 'an array'
  when 'object' then 'an object'
  else 'a ' || type
end;

comment on function svc.type_in_words(text) is 'The name of a type with its article, for messages.';
