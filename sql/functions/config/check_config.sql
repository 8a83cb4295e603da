-- The data that deploying a snapshot would strand, {warnings: [{code, message, path}]}, for which svc_api.deploy_config would refuse it;
-- deploys nothing. The caller validated the snapshot.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.check_config(
  token_hash bytea, organization_id text, project_slug text, environment_name text, snapshot text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'check_config');
begin
  return json_build_object('warnings', svc.stranded_data(_environment.environment_id, check_config.snapshot::json));
end;
$$;

comment on function svc_api.check_config(bytea, text, text, text, text) is 'The data that deploying a snapshot would strand.';
