-- Finds an environment by project slug and name. A project of another organization counts as not existing.
-- Raises SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc.find_environment(
  organization_id text, project_slug text, environment_name text,
  out environment_id integer, out project_id integer, out active_version integer
)
language plpgsql
stable
set search_path = ''
as $$
declare
  _project constant svc.projects := svc.find_project(find_environment.organization_id, find_environment.project_slug);
begin
  -- strict: each project has both environments.
  select e.environment_id, e.project_id, e.active_version
  into strict find_environment.environment_id, find_environment.project_id, find_environment.active_version
  from svc.environments as e
  where e.project_id = _project.project_id and e.name = find_environment.environment_name;
end;
$$;

comment on function svc.find_environment(text, text, text) is 'The environment of a project; raises PROJECT_NOT_FOUND.';
