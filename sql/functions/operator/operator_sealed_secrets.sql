-- The current signing secrets of the webhooks of an environment, or of all, encrypted, in base64: [{webhookId, secret}].
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_sealed_secrets(environment_id integer)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(
    json_agg(json_build_object('webhookId', w.webhook_id, 'secret', encode(w.sealed_secret, 'base64'))),
    '[]'
  )
  from svc.webhooks as w
  where (operator_sealed_secrets.environment_id is null or w.environment_id = operator_sealed_secrets.environment_id)
    and w.deleted_at is null
$$;

comment on function svc_api.operator_sealed_secrets(integer) is
  'The current encrypted signing secrets of the webhooks of an environment, or of all; for the operator only.';
