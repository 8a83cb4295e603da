-- The maximum number of operations in an environment's quarantine. The limit of their size is 256 MiB (svc.has_quarantine_room).
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_limit()
returns integer
language sql
immutable
parallel safe
return 100000;

comment on function svc.quarantine_limit() is 'The maximum number of operations in an environment''s quarantine.';
