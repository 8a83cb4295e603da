-- The time zone of an environment's organization, in which its days begin and end.
-- Raises nothing, locks nothing.
create or replace function svc.time_zone_of_environment(environment_id integer)
returns text
language sql
stable
set search_path = ''
as $$
  select o.time_zone
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  join iam.organizations as o on o.organization_id = p.organization_id
  where e.environment_id = time_zone_of_environment.environment_id
$$;

comment on function svc.time_zone_of_environment(integer) is 'The time zone of an environment''s organization.';
