-- A webhook as shown to a member: only those who may change it see the whole address.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_for_role(webhook svc.webhooks, role text, environment_name text)
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  if iam.role_rank(webhook_for_role.role) < (
    select iam.role_rank(case webhook_for_role.environment_name when 'live' then o.role_live else o.role_test end)
    from iam.operations() as o
    where o.operation = 'update_webhook'
  ) then
    webhook_for_role.webhook.url := svc.url_origin(webhook_for_role.webhook.url);
  end if;
  return svc.webhook_document(webhook_for_role.webhook);
end;
$$;

comment on function svc.webhook_for_role(svc.webhooks, text, text) is 'A webhook as shown to a member.';
