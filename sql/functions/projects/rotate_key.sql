-- Replaces a key by a new one of the same name. The old one works until its grace period ends: {key, replaced: {id, revokedAt}}. Of two
-- concurrent rotations one adds a key and the other finds the old one already replaced.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and KEY_NOT_FOUND, SV005 KEY_REVOKED for a key that is
-- revoked or was already rotated, SV009 QUOTA_EXCEEDED if there is no room for both in the grace period. Locks like svc.require_room, if
-- there is such a period, then the key's row.
create or replace function svc_api.rotate_key(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  key_id text, grace_seconds double precision, new_key_hash bytea, new_hint text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'rotate_key');
  _key svc.api_keys;
  -- In whole milliseconds, rounded down, as ingestion compares: without a grace period no later request with the old key is accepted.
  _revoked_at constant timestamptz := date_trunc('milliseconds', now()) + rotate_key.grace_seconds * interval '1 second';
  _new_key_id text;
begin
  -- What svc.require_room locks below, and before the key: in this order an environment and its keys are deleted.
  if rotate_key.grace_seconds > 0 then
    perform from svc.environments as e where e.environment_id = _environment.environment_id for no key update;
  end if;
  _key := svc.lock_key(_environment.environment_id, rotate_key.key_id);
  -- Again, because the actor may have been removed while this waited; the new key would outlive that.
  perform iam.authorize(rotate_key.token_hash, rotate_key.organization_id, 'rotate_key', rotate_key.environment_name);
  if _key.revoked_at is not null then
    raise exception using
      errcode = 'SV005',
      message = 'KEY_REVOKED',
      detail = jsonb_build_object(
        'message', format(
          'The key "%s" %s.',
          _key.api_key_id,
          case
            when _key.revoked_at > now() then 'was rotated already and works until ' || svc.iso(_key.revoked_at)
            else 'was revoked at ' || svc.iso(_key.revoked_at)
          end
        ),
        'fix', 'Rotate the key that took its place, or create a new one.'
      )::text;
  end if;

  -- Without a grace period the number of keys does not change, so a key can always be replaced at once.
  if rotate_key.grace_seconds > 0 then
    perform svc.require_room(rotate_key.organization_id, _environment.environment_id, 'keys');
  end if;
  _new_key_id := svc.add_key(
    _environment.environment_id, rotate_key.new_key_hash, rotate_key.new_hint, _key.name, (_environment.actor).email
  );
  update svc.api_keys as k set revoked_at = _revoked_at where k.key_hash = _key.key_hash;
  perform iam.record_audit(
    _environment.actor, rotate_key.request_id, 'key.rotated', rotate_key.project_slug, rotate_key.environment_name, _key.api_key_id,
    jsonb_build_object('name', _key.name, 'replacedBy', _new_key_id, 'revokedAt', svc.iso(_revoked_at))
  );
  return json_build_object(
    'key', svc.key_document(rotate_key.new_key_hash),
    'replaced', json_build_object('id', _key.api_key_id, 'revokedAt', svc.iso(_revoked_at))
  );
end;
$$;

comment on function svc_api.rotate_key(bytea, text, text, text, text, text, double precision, bytea, text) is
  'Replaces a key by a new one; the old one works until its grace period ends.';
