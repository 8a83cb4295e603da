-- How many days the plan of an environment's organization keeps what recomputes superseded; null for ever.
-- Raises nothing, locks nothing.
create or replace function svc.superseded_days(environment_id integer)
returns integer
language sql
stable
set search_path = ''
return (svc.plan_of_environment(superseded_days.environment_id)).superseded_days;

comment on function svc.superseded_days(integer) is 'How many days an environment keeps what recomputes superseded; null for ever.';
