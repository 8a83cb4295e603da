-- The public id of an operation in quarantine. Fixed width, so that ids sort in order of acceptance.
-- Raises nothing, locks nothing.
create or replace function svc.quarantined_id(seq bigint)
returns text
language sql
immutable
strict
parallel safe
return 'qop_' || lpad(to_hex(seq), 16, '0');

comment on function svc.quarantined_id(bigint) is 'Public id of an operation in quarantine, qop_ and 16 hex digits.';
