-- How many days an environment keeps operations in quarantine: 30, or as long as its plan keeps operations if that is less.
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_days(environment_id integer)
returns integer
language sql
stable
set search_path = ''
return least(30, svc.retention_days(quarantine_days.environment_id));

comment on function svc.quarantine_days(integer) is 'How many days an environment keeps operations in quarantine.';
