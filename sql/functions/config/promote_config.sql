-- Makes a version that was active in test the active one of live: {version, hash, environment, activated, warnings, hasCustomers}. expected
-- is the version that must be active in live, 0 for none, null for any; force ignores warnings about data.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND, SV005 VERSION_CONFLICT and
-- CONFIG_WARNINGS. Locks the project's row.
create or replace function svc_api.promote_config(
  token_hash bytea, organization_id text, request_id text, project_slug text, version_name text, expected integer, force boolean
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'promote_config', 'live');
begin
  return svc.activate_former_version(
    _actor, promote_config.request_id, promote_config.project_slug, 'live', promote_config.version_name, 'promote', 'test',
    promote_config.expected, promote_config.force
  );
end;
$$;

comment on function svc_api.promote_config(bytea, text, text, text, text, integer, boolean) is
  'Makes a version that was active in test the active one of live.';
