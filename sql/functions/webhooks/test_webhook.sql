-- What a test of a webhook needs: where to and by which secrets it is signed. The request is the caller's to make, at once and once; here
-- it is written down. A disabled webhook is tested, too.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks nothing.
create or replace function svc_api.test_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  webhook_id text, message_id text, event_type text,
  out url text, out sealed_secret bytea, out previous_sealed_secret bytea
)
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    test_webhook.token_hash, test_webhook.organization_id, 'test_webhook', test_webhook.environment_name
  );
  _environment constant record := svc.find_environment(
    test_webhook.organization_id, test_webhook.project_slug, test_webhook.environment_name
  );
  _webhook constant svc.webhooks := svc.find_webhook(_environment.environment_id, test_webhook.webhook_id);
begin
  perform iam.record_audit(
    _actor, test_webhook.request_id, 'webhook.tested', test_webhook.project_slug, test_webhook.environment_name, _webhook.webhook_id,
    jsonb_build_object('id', test_webhook.message_id, 'type', test_webhook.event_type)
  );
  test_webhook.url := _webhook.url;
  test_webhook.sealed_secret := _webhook.sealed_secret;
  test_webhook.previous_sealed_secret :=
    case when _webhook.previous_secret_expires_at > now() then _webhook.previous_sealed_secret end;
end;
$$;

comment on function svc_api.test_webhook(bytea, text, text, text, text, text, text, text) is
  'What a test of a webhook needs, and its entry in the audit log.';
