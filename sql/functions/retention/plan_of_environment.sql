-- The plan of an environment's organization.
-- Raises nothing, locks nothing.
create or replace function svc.plan_of_environment(environment_id integer)
returns iam.plans
language sql
stable
set search_path = ''
as $$
  select p.*
  from svc.environments as e
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  where e.environment_id = plan_of_environment.environment_id
$$;

comment on function svc.plan_of_environment(integer) is 'The plan of an environment''s organization.';
