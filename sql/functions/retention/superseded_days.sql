-- How many days the plan of an environment's organization keeps what recomputes superseded; null for ever.
-- Raises nothing, locks nothing.
create or replace function svc.superseded_days(environment_id integer)
returns integer
language sql
stable
set search_path = ''
as $$
  select p.superseded_days
  from svc.environments as e
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  where e.environment_id = superseded_days.environment_id
$$;

comment on function svc.superseded_days(integer) is 'How many days an environment keeps what recomputes superseded; null for ever.';
