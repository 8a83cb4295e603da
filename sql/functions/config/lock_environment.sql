-- Finds and locks an environment, to change its active version.
-- Raises SV004 PROJECT_NOT_FOUND. Locks the project's row, so that versions are numbered and activated one after the other; neither
-- ingestion nor evaluation waits for it.
create or replace function svc.lock_environment(
  organization_id text, project_slug text, environment_name text,
  out environment_id integer, out project_id integer, out active_version integer
)
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform from svc.projects as p
  where p.organization_id = lock_environment.organization_id and p.slug = lock_environment.project_slug
  for no key update;
  -- After the lock, so that it sees what was activated meanwhile.
  select e.environment_id, e.project_id, e.active_version
  into lock_environment.environment_id, lock_environment.project_id, lock_environment.active_version
  from svc.find_environment(
    lock_environment.organization_id, lock_environment.project_slug, lock_environment.environment_name
  ) as e;
end;
$$;

comment on function svc.lock_environment(text, text, text) is 'An environment, locked to change its active version.';
