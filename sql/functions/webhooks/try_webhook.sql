-- What a test of a webhook needs: the address, the signing secrets, and the body if it is a message for a chat. The caller makes the
-- request, at once and only once; this records it in the audit log. Disabled webhooks can be tested, too.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks nothing.
create or replace function svc_api.try_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  webhook_id text, message_id text, event_type text,
  out url text, out sealed_secret bytea, out previous_sealed_secret bytea, out body text
)
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'test_webhook');
  _webhook constant svc.webhooks := svc.find_webhook(_environment.environment_id, try_webhook.webhook_id);
begin
  perform iam.record_audit(
    _environment.actor, try_webhook.request_id, 'webhook.tested', try_webhook.project_slug, try_webhook.environment_name,
    _webhook.webhook_id, jsonb_build_object('id', try_webhook.message_id, 'type', try_webhook.event_type)
  );
  try_webhook.body := svc.chat_body(
    _webhook.format,
    format('A test of this webhook (%s), from %s of %s', try_webhook.event_type, try_webhook.environment_name, try_webhook.project_slug),
    null
  );
  try_webhook.url := _webhook.url;
  try_webhook.sealed_secret := _webhook.sealed_secret;
  try_webhook.previous_sealed_secret :=
    case when _webhook.previous_secret_expires_at > now() then _webhook.previous_sealed_secret end;
end;
$$;

comment on function svc_api.try_webhook(bytea, text, text, text, text, text, text, text) is
  'What a test of a webhook needs; records the test in the audit log.';
