-- The webhooks of an environment in the order of their ids, without their secrets.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_webhooks(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_webhooks');
  _after constant text := coalesce(svc.decode_cursor('webhooks', list_webhooks.cursor), '');
  _webhook svc.webhooks;
  _items json[];
  _positions text[];
begin
  for _webhook in
    select w.*
    from svc.webhooks as w
    where w.environment_id = _environment.environment_id and w.webhook_id > _after and w.deleted_at is null
    order by w.webhook_id
    limit row_limit + 1
  loop
    _items := array_append(_items, svc.webhook_for_role(_webhook, (_environment.actor).role, list_webhooks.environment_name));
    _positions := array_append(_positions, _webhook.webhook_id);
  end loop;
  return svc.page('webhooks', _items, _positions, row_limit);
end;
$$;

comment on function svc_api.list_webhooks(bytea, text, text, text, integer, text) is 'The webhooks of an environment.';
