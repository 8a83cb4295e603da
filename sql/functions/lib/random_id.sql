-- A new public id for something that is rarely created: the prefix and 80 random bits.
-- Raises nothing, locks nothing.
create or replace function svc.random_id(prefix text)
returns text
language sql
volatile
set search_path = ''
return prefix || right(replace(gen_random_uuid()::text, '-', ''), 20);

comment on function svc.random_id(text) is 'A new public id: the prefix and 20 random hex digits.';
