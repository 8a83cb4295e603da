-- How many days the plan of an environment's organization keeps operations; null for ever.
-- Raises nothing, locks nothing.
create or replace function svc.retention_days(environment_id integer)
returns integer
language sql
stable
set search_path = ''
return (svc.plan_of_environment(retention_days.environment_id)).retention_days;

comment on function svc.retention_days(integer) is 'How many days an environment keeps operations; null for ever.';
