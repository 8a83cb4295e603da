-- Adds an ingestion key to an environment. The caller generated the key and passes only its SHA-256 and first characters.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV009 QUOTA_EXCEEDED. Locks the environment's row, like
-- svc.require_room.
create or replace function svc_api.create_key(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  name text, key_hash bytea, hint text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'create_key');
  _key_id text;
begin
  perform svc.require_room(create_key.organization_id, _environment.environment_id, 'keys');
  -- Again, because the actor may have been removed while this waited; the key would outlive that.
  perform iam.authorize(create_key.token_hash, create_key.organization_id, 'create_key', create_key.environment_name);
  _key_id := svc.add_key(
    _environment.environment_id, create_key.key_hash, create_key.hint, create_key.name, (_environment.actor).email
  );
  perform iam.record_audit(
    _environment.actor, create_key.request_id, 'key.created', create_key.project_slug, create_key.environment_name, _key_id,
    jsonb_build_object('name', create_key.name)
  );
  return svc.key_document(create_key.key_hash);
end;
$$;

comment on function svc_api.create_key(bytea, text, text, text, text, text, bytea, text) is 'Adds an ingestion key to an environment.';
