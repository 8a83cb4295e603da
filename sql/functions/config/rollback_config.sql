-- Reactivates a version that was active in an environment before: {version, hash, environment, activated, warnings, hasCustomers}.
-- expected is the version that must be active there, 0 for none, null for any; force ignores warnings about data.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND, SV005 VERSION_CONFLICT and
-- CONFIG_WARNINGS. Locks the project's row.
create or replace function svc_api.rollback_config(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  version_name text, expected integer, force boolean
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'rollback_config', environment_name);
begin
  return svc.activate_former_version(
    _actor, rollback_config.request_id, rollback_config.project_slug, rollback_config.environment_name, rollback_config.version_name,
    'rollback', rollback_config.environment_name, rollback_config.expected, rollback_config.force
  );
end;
$$;

comment on function svc_api.rollback_config(bytea, text, text, text, text, text, integer, boolean) is
  'Reactivates a version that was active in an environment before.';
