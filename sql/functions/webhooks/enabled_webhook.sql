-- Finds a webhook by its id and checks that it is enabled.
-- Raises SV004 WEBHOOK_NOT_FOUND, SV005 WEBHOOK_DISABLED. Locks nothing.
create or replace function svc.enabled_webhook(environment_id integer, webhook_id text)
returns svc.webhooks
language plpgsql
stable
set search_path = ''
as $$
declare
  _webhook constant svc.webhooks := svc.find_webhook(enabled_webhook.environment_id, enabled_webhook.webhook_id);
begin
  if _webhook.disabled_at is not null then
    raise exception using
      errcode = 'SV005',
      message = 'WEBHOOK_DISABLED',
      detail = jsonb_build_object(
        'message', format('The webhook "%s" is disabled: nothing is delivered there.', _webhook.webhook_id),
        'reason', _webhook.disabled_reason,
        'fix', 'Enable it first: PATCH /projects/:project/webhooks/:webhook with {"disabled": false}.'
      )::text;
  end if;
  return _webhook;
end;
$$;

comment on function svc.enabled_webhook(integer, text) is 'A webhook that is enabled; raises WEBHOOK_NOT_FOUND and WEBHOOK_DISABLED.';
