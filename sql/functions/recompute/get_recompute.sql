-- One recompute or dry run, with its progress.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or RECOMPUTE_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_recompute(
  token_hash bytea, organization_id text, project_slug text, environment_name text, recompute_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_recompute');
begin
  return svc.recompute_document(
    svc.find_job(_environment.environment_id, get_recompute.recompute_id, 'recompute'), get_recompute.environment_name
  );
end;
$$;

comment on function svc_api.get_recompute(bytea, text, text, text, text) is 'One recompute or dry run, with its progress.';
