-- Says that there is no such webhook.
-- Raises SV004 WEBHOOK_NOT_FOUND, always. Locks nothing.
create or replace function svc.raise_webhook_not_found(webhook_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV004',
    message = 'WEBHOOK_NOT_FOUND',
    detail = jsonb_build_object(
      'message', format('There is no webhook "%s" in this environment.', left(raise_webhook_not_found.webhook_id, 256)),
      'fix', 'Check the id and the environment; GET /projects/:project/webhooks lists all of them.'
    )::text;
end;
$$;

comment on function svc.raise_webhook_not_found(text) is 'Raises WEBHOOK_NOT_FOUND.';
