-- Deletes a webhook: it is gone at once for every reader. Its pending deliveries and its log are removed in batches later.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks the webhook's row.
create or replace function svc_api.delete_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, webhook_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'delete_webhook');
  _webhook constant svc.webhooks := svc.lock_webhook(_environment.environment_id, delete_webhook.webhook_id);
  _now constant timestamptz := now();
begin
  update svc.webhooks as w
  set deleted_at = _now
  where w.environment_id = _webhook.environment_id and w.webhook_id = _webhook.webhook_id;
  perform iam.record_audit(
    _environment.actor, delete_webhook.request_id, 'webhook.deleted', delete_webhook.project_slug, delete_webhook.environment_name,
    _webhook.webhook_id, jsonb_build_object('host', svc.url_host(_webhook.url))
  );
  return svc.webhook_document(_webhook);
end;
$$;

comment on function svc_api.delete_webhook(bytea, text, text, text, text, text) is 'Deletes a webhook.';
