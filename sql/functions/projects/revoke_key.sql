-- Revokes a key at once, even in a grace period. A key that is already revoked stays unchanged.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and KEY_NOT_FOUND. Locks the key's row.
create or replace function svc_api.revoke_key(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, key_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'revoke_key');
  _key constant svc.api_keys := svc.lock_key(_environment.environment_id, revoke_key.key_id);
  -- In whole milliseconds, rounded down, as ingestion compares.
  _now constant timestamptz := date_trunc('milliseconds', now());
begin
  if _key.revoked_at is null or _key.revoked_at > now() then
    update svc.api_keys as k set revoked_at = _now where k.key_hash = _key.key_hash;
    perform iam.record_audit(
      _environment.actor, revoke_key.request_id, 'key.revoked', revoke_key.project_slug, revoke_key.environment_name, _key.api_key_id,
      jsonb_build_object('name', _key.name)
    );
  end if;
  return svc.key_document(_key.key_hash);
end;
$$;

comment on function svc_api.revoke_key(bytea, text, text, text, text, text) is 'Revokes a key at once.';
