-- WEBHOOKS_DISABLED if webhooks are disabled, with up to 50 of them and the reasons; else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_disabled_webhooks(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.finding(
    'WEBHOOKS_DISABLED',
    'warning',
    svc.count_text(count(*), 'webhook is', 'webhooks are') || ' disabled: nothing is delivered there.',
    format(
      'Correct the receiver and enable the webhook: svc webhooks update <webhookId> --enable --env %1$s. To remove it instead: '
      'svc webhooks delete <webhookId> --env %1$s',
      check_disabled_webhooks.environment_name
    ),
    count(*),
    json_build_object('webhooks', json_agg(
      json_build_object(
        'webhookId', w.webhook_id, 'url', svc.url_origin(w.url), 'disabledAt', svc.iso(w.disabled_at), 'reason', w.disabled_reason
      )
      order by w.disabled_at desc, w.webhook_id
    ) filter (where w.turn <= 50))
  )
  from (
    select k.webhook_id, k.url, k.disabled_at, k.disabled_reason, row_number() over (order by k.disabled_at desc, k.webhook_id) as turn
    from svc.webhooks as k
    where k.environment_id = check_disabled_webhooks.environment_id and k.disabled_at is not null and k.deleted_at is null
  ) as w
  having count(*) > 0;
$$;

comment on function svc.check_disabled_webhooks(integer, text) is 'Diagnostics: webhooks that are disabled.';
