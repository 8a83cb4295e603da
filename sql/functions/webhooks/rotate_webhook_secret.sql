-- Gives a webhook a new signing secret, which the caller created and sealed. The previous one also signs until the grace period ends; one
-- still valid from an earlier rotation is dropped, as at most two sign.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks the webhook's row: of two
-- concurrent rotations the second one replaces the secret of the first.
create or replace function svc_api.rotate_webhook_secret(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  webhook_id text, grace_seconds double precision, sealed_secret bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'rotate_webhook_secret'
  );
  _before constant svc.webhooks := svc.lock_webhook(_environment.environment_id, rotate_webhook_secret.webhook_id);
  _expires_at constant timestamptz := case
    when rotate_webhook_secret.grace_seconds > 0 then now() + rotate_webhook_secret.grace_seconds * interval '1 second'
  end;
  _after svc.webhooks;
begin
  -- Again, because the actor may have been removed while this waited, and would know the new secret.
  perform iam.authorize(
    rotate_webhook_secret.token_hash, rotate_webhook_secret.organization_id, 'rotate_webhook_secret', rotate_webhook_secret.environment_name
  );
  update svc.webhooks as w
  set
    sealed_secret = rotate_webhook_secret.sealed_secret,
    previous_sealed_secret = case when _expires_at is not null then w.sealed_secret end,
    previous_secret_expires_at = _expires_at
  where w.environment_id = _before.environment_id and w.webhook_id = _before.webhook_id
  returning * into _after;
  perform iam.record_audit(
    _environment.actor, rotate_webhook_secret.request_id, 'webhook.secret_rotated', rotate_webhook_secret.project_slug,
    rotate_webhook_secret.environment_name, _after.webhook_id,
    jsonb_build_object('previousSecretExpiresAt', svc.iso(_expires_at))
  );
  return svc.webhook_document(_after);
end;
$$;

comment on function svc_api.rotate_webhook_secret(bytea, text, text, text, text, text, double precision, bytea) is
  'Gives a webhook a new signing secret; the previous one also signs until the grace period ends.';
