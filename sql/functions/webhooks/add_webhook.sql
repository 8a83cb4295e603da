-- Adds an endpoint that receives an environment's emissions from now on. The caller created and sealed the secret, and checked the rest.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV009 QUOTA_EXCEEDED. Locks the environment's row, like
-- svc.require_room.
create or replace function svc_api.add_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  url text, event_types text[], max_event_age text, max_concurrency integer, max_per_second integer, include text[],
  format text, sealed_secret bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'create_webhook');
  _webhook svc.webhooks;
begin
  perform svc.require_room(add_webhook.organization_id, _environment.environment_id, 'webhooks');
  -- Again, because the actor may have been removed while this waited; the webhook would outlive that.
  perform iam.authorize(add_webhook.token_hash, add_webhook.organization_id, 'create_webhook', add_webhook.environment_name);
  insert into svc.webhooks (
    environment_id, webhook_id, url, event_types, max_event_age, max_concurrency, max_per_second, include, format,
    sealed_secret
  )
  values (
    _environment.environment_id, svc.random_id('whk_'), add_webhook.url, add_webhook.event_types, add_webhook.max_event_age,
    add_webhook.max_concurrency, add_webhook.max_per_second, add_webhook.include, add_webhook.format, add_webhook.sealed_secret
  )
  returning * into _webhook;

  perform iam.record_audit(
    _environment.actor, add_webhook.request_id, 'webhook.created', add_webhook.project_slug, add_webhook.environment_name,
    _webhook.webhook_id,
    jsonb_build_object(
      'host', svc.url_host(_webhook.url), 'eventTypes', _webhook.event_types, 'include', _webhook.include, 'format', _webhook.format
    )
  );
  return svc.webhook_document(_webhook);
end;
$$;

comment on function svc_api.add_webhook(bytea, text, text, text, text, text, text[], text, integer, integer, text[], text, bytea) is
  'Adds an endpoint that receives the emissions of an environment from now on.';
