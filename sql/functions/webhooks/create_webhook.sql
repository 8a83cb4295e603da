-- Adds an endpoint that receives the emissions of an environment from now on. The caller made the id and sealed the secret.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing beyond its row.
create or replace function svc_api.create_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  url text, event_types text[], sealed_secret bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    create_webhook.token_hash, create_webhook.organization_id, 'create_webhook', create_webhook.environment_name
  );
  _environment record := svc.find_environment(
    create_webhook.organization_id, create_webhook.project_slug, create_webhook.environment_name
  );
  _webhook svc.webhooks;
begin
  insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
  values (
    _environment.environment_id, svc.random_id('whk_'), create_webhook.url, create_webhook.event_types, create_webhook.sealed_secret
  )
  returning * into _webhook;

  perform iam.record_audit(
    _actor, create_webhook.request_id, 'webhook.created', create_webhook.project_slug, create_webhook.environment_name,
    _webhook.webhook_id, null
  );

  return json_build_object(
    'id', _webhook.webhook_id,
    'url', _webhook.url,
    'eventTypes', _webhook.event_types,
    'createdAt', svc.iso(_webhook.created_at)
  );
end;
$$;

comment on function svc_api.create_webhook(bytea, text, text, text, text, text, text[], bytea) is
  'Adds an endpoint that receives the emissions of an environment from now on.';
