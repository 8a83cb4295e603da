-- Finds a webhook by its id. One that was deleted does not exist.
-- Raises SV004 WEBHOOK_NOT_FOUND. Locks nothing.
create or replace function svc.find_webhook(environment_id integer, webhook_id text)
returns svc.webhooks
language plpgsql
stable
set search_path = ''
as $$
declare
  _webhook svc.webhooks;
begin
  select w.* into _webhook
  from svc.webhooks as w
  where w.environment_id = find_webhook.environment_id and w.webhook_id = find_webhook.webhook_id and w.deleted_at is null;
  if not found then
    perform svc.raise_not_found(
      'WEBHOOK_NOT_FOUND', 'webhook', find_webhook.webhook_id, 'in this environment',
      'Check the id and the environment; GET /projects/:project/webhooks lists all of them.'
    );
  end if;
  return _webhook;
end;
$$;

comment on function svc.find_webhook(integer, text) is 'A webhook; raises WEBHOOK_NOT_FOUND.';
