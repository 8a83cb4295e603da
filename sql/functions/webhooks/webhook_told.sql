-- A webhook as shown to a member: only those who may change it see the whole address.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_told(webhook svc.webhooks, role text, environment_name text)
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  if iam.role_rank(webhook_told.role) < (
    select iam.role_rank(case webhook_told.environment_name when 'live' then o.role_live else o.role_test end)
    from iam.operations() as o
    where o.operation = 'update_webhook'
  ) then
    webhook_told.webhook.url := svc.url_origin(webhook_told.webhook.url);
  end if;
  return svc.webhook_document(webhook_told.webhook);
end;
$$;

comment on function svc.webhook_told(svc.webhooks, text, text) is 'A webhook as shown to a member.';
