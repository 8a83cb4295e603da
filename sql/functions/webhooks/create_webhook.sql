-- Adds an endpoint that receives the emissions of an environment from now on. The caller made and sealed the secret, and checked the rest.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV009 QUOTA_EXCEEDED. Locks the environment's row, as svc.require_room.
create or replace function svc_api.create_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  url text, event_types text[], max_event_age text, max_concurrency integer, max_per_second integer, sealed_secret bytea
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
  _environment constant record := svc.find_environment(
    create_webhook.organization_id, create_webhook.project_slug, create_webhook.environment_name
  );
  _webhook svc.webhooks;
begin
  perform svc.require_room(create_webhook.organization_id, _environment.environment_id, 'webhooks');
  insert into svc.webhooks (
    environment_id, webhook_id, url, event_types, max_event_age, max_concurrency, max_per_second, sealed_secret
  )
  values (
    _environment.environment_id, svc.random_id('whk_'), create_webhook.url, create_webhook.event_types, create_webhook.max_event_age,
    create_webhook.max_concurrency, create_webhook.max_per_second, create_webhook.sealed_secret
  )
  returning * into _webhook;

  perform iam.record_audit(
    _actor, create_webhook.request_id, 'webhook.created', create_webhook.project_slug, create_webhook.environment_name,
    _webhook.webhook_id, jsonb_build_object('host', svc.url_host(_webhook.url), 'eventTypes', _webhook.event_types)
  );
  return svc.webhook_document(_webhook);
end;
$$;

comment on function svc_api.create_webhook(bytea, text, text, text, text, text, text[], text, integer, integer, bytea) is
  'Adds an endpoint that receives the emissions of an environment from now on.';
