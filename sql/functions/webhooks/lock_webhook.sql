-- Finds and locks a webhook by its id, to change it. A deleted one does not exist.
-- Raises SV004 WEBHOOK_NOT_FOUND. Locks the webhook's row, so that changes of a webhook come one after the other; fan-out does not wait
-- for it.
create or replace function svc.lock_webhook(environment_id integer, webhook_id text)
returns svc.webhooks
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform from svc.webhooks as w
  where w.environment_id = lock_webhook.environment_id and w.webhook_id = lock_webhook.webhook_id and w.deleted_at is null
  for no key update;
  -- After the lock, so that it sees what was changed meanwhile.
  return svc.find_webhook(lock_webhook.environment_id, lock_webhook.webhook_id);
end;
$$;

comment on function svc.lock_webhook(integer, text) is 'A webhook, locked for a change; raises WEBHOOK_NOT_FOUND.';
