-- How many operations an environment has in quarantine at most; of bytes 256 MiB.
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_limit()
returns integer
language sql
immutable
parallel safe
return 100000;

comment on function svc.quarantine_limit() is 'How many operations an environment has in quarantine at most.';
