-- Changes a webhook by the members of `changes`, which the caller checked: url, eventTypes, maxEventAge, maxConcurrency, maxPerSecond,
-- include, format and disabled. Pending deliveries go to the new address, with their bodies unchanged. A new address, and enabling a
-- disabled webhook, reset failing_since: earlier attempts no longer count. Enabling also resumes pending deliveries.
-- A request that changes nothing is not recorded in the audit log.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks the webhook's row.
create or replace function svc_api.update_webhook(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, webhook_id text, changes jsonb
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'update_webhook');
  _before constant svc.webhooks := svc.lock_webhook(_environment.environment_id, update_webhook.webhook_id);
  _changes constant jsonb := update_webhook.changes;
  _disables constant boolean := coalesce((_changes -> 'disabled')::boolean, false) and _before.disabled_at is null;
  _enables constant boolean := not coalesce((_changes -> 'disabled')::boolean, true) and _before.disabled_at is not null;
  _moves constant boolean := _changes ? 'url' and _changes ->> 'url' <> _before.url;
  -- Not the start of the transaction: it may have waited for the row while attempts were made.
  _now constant timestamptz := clock_timestamp();
  _reason constant text := format('Disabled by %s.', (_environment.actor).email);
  _after svc.webhooks;
begin
  -- Again, because the actor may have been removed while this waited; the new address would outlive that.
  perform iam.authorize(update_webhook.token_hash, update_webhook.organization_id, 'update_webhook', update_webhook.environment_name);
  update svc.webhooks as w
  set
    url = case when _changes ? 'url' then _changes ->> 'url' else w.url end,
    event_types = case
      when _changes ? 'eventTypes' then array(select jsonb_array_elements_text(_changes -> 'eventTypes'))
      else w.event_types
    end,
    max_event_age = case when _changes ? 'maxEventAge' then _changes ->> 'maxEventAge' else w.max_event_age end,
    max_concurrency = case when _changes ? 'maxConcurrency' then (_changes ->> 'maxConcurrency')::integer else w.max_concurrency end,
    max_per_second = case when _changes ? 'maxPerSecond' then (_changes ->> 'maxPerSecond')::integer else w.max_per_second end,
    include = case
      when _changes ? 'include' then array(select jsonb_array_elements_text(_changes -> 'include'))
      else w.include
    end,
    format = case when _changes ? 'format' then _changes ->> 'format' else w.format end,
    active_since = case when _moves or _enables then _now else w.active_since end,
    failing_since = case when not (_moves or _enables) then w.failing_since end,
    disabled_at = case when _disables then _now when not _enables then w.disabled_at end,
    disabled_reason = case when _disables then _reason when not _enables then w.disabled_reason end
  where w.environment_id = _before.environment_id and w.webhook_id = _before.webhook_id
  returning * into _after;

  if _after is distinct from _before then
    perform iam.record_audit(
      _environment.actor, update_webhook.request_id, 'webhook.updated', update_webhook.project_slug, update_webhook.environment_name,
      _after.webhook_id,
      _changes - 'url' || case when _changes ? 'url' then jsonb_build_object('host', svc.url_host(_after.url)) else '{}' end
    );
  end if;
  if _enables then
    perform pg_notify('svc_deliveries', '');
  end if;
  return svc.webhook_document(_after);
end;
$$;

comment on function svc_api.update_webhook(bytea, text, text, text, text, text, jsonb) is 'Changes, disables or enables a webhook.';
