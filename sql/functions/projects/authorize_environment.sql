-- Checks that the caller may perform an operation in an environment, and finds it. Administrative functions for environments begin with it.
-- Raises what iam.authorize raises, then SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc.authorize_environment(
  token_hash bytea, organization_id text, project_slug text, environment_name text, operation text,
  out actor iam.actor, out environment_id integer, out project_id integer, out active_version integer
)
language plpgsql
stable
set search_path = ''
as $$
begin
  actor := iam.authorize(
    authorize_environment.token_hash, authorize_environment.organization_id, authorize_environment.operation,
    authorize_environment.environment_name
  );
  select e.environment_id, e.project_id, e.active_version
  into authorize_environment.environment_id, authorize_environment.project_id, authorize_environment.active_version
  from svc.projects as p
  join svc.environments as e on e.project_id = p.project_id and e.name = authorize_environment.environment_name
  where p.organization_id = authorize_environment.organization_id and p.slug = authorize_environment.project_slug;
  if not found then
    -- Raises the error. Called first, it would slow every request down.
    perform svc.find_environment(
      authorize_environment.organization_id, authorize_environment.project_slug, authorize_environment.environment_name
    );
  end if;
end;
$$;

comment on function svc.authorize_environment(bytea, text, text, text, text) is
  'An environment and the actor, if the operation is allowed; raises otherwise.';
