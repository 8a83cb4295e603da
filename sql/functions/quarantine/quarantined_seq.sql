-- The number in the public id of an operation in quarantine, or in the id that its event will have; null for any other text.
-- Raises nothing, locks nothing.
create or replace function svc.quarantined_seq(id text)
returns bigint
language sql
immutable
strict
parallel safe
return case
  when quarantined_seq.id ~ '^(qop|evt)_[0-7][0-9a-f]{15}$' then ('x' || right(quarantined_seq.id, 16))::bit(64)::bigint
end;

comment on function svc.quarantined_seq(text) is 'The number in the public id of an operation in quarantine; null for any other text.';
