-- The public id of an emission. Fixed width, so that ids sort as numbers.
-- Raises nothing, locks nothing.
create or replace function svc.emission_id(emission_seq bigint)
returns text
language sql
immutable
strict
parallel safe
return 'emi_' || lpad(to_hex(emission_seq), 16, '0');

comment on function svc.emission_id(bigint) is 'Public id of an emission, emi_ and 16 hex digits; those of a customer sort in order.';
