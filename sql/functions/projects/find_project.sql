-- Finds a project by its slug. A project of another organization counts as not existing.
-- Raises SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc.find_project(organization_id text, project_slug text)
returns svc.projects
language plpgsql
stable
set search_path = ''
as $$
declare
  _project svc.projects;
begin
  select p.* into _project
  from svc.projects as p
  where p.organization_id = find_project.organization_id and p.slug = find_project.project_slug;
  if not found then
    perform svc.raise_not_found(
      'PROJECT_NOT_FOUND', 'project', find_project.project_slug, 'in this organization',
      'Check the slug and the organization; GET /projects lists its projects.'
    );
  end if;
  return _project;
end;
$$;

comment on function svc.find_project(text, text) is 'A project of an organization; raises PROJECT_NOT_FOUND.';
