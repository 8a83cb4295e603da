-- Finds an environment by the names in an address. A project of another organization does not exist.
-- Raises SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc.find_environment(
  organization_id text, project_slug text, environment_name text,
  out environment_id integer, out project_id integer, out active_version integer
)
language plpgsql
stable
set search_path = ''
as $$
begin
  select e.environment_id, e.project_id, e.active_version
  into find_environment.environment_id, find_environment.project_id, find_environment.active_version
  from svc.projects as p
  join svc.environments as e on e.project_id = p.project_id
  where p.organization_id = find_environment.organization_id
    and p.slug = find_environment.project_slug
    and e.name = find_environment.environment_name;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'PROJECT_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no project "%s" in this organization.', left(find_environment.project_slug, 256))
      )::text;
  end if;
end;
$$;

comment on function svc.find_environment(text, text, text) is 'The environment of a project; raises PROJECT_NOT_FOUND.';
