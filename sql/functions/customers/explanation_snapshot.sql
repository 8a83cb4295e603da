-- The snapshot of a version of a project, to explain a state that was computed under it if the caller does not have it compiled.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.explanation_snapshot(
  token_hash bytea, organization_id text, project_slug text, environment_name text, version integer, explained text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'explain_' || explained
  );
begin
  return svc_api.load_snapshot(_environment.project_id, explanation_snapshot.version);
end;
$$;

comment on function svc_api.explanation_snapshot(bytea, text, text, text, integer, text) is
  'The snapshot of a version, for an explanation.';
