-- A webhook in the format of lists and changes, without its secrets.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_document(webhook svc.webhooks)
returns json
language sql
stable
set search_path = ''
return json_build_object(
  'id', (webhook).webhook_id,
  'url', (webhook).url,
  'eventTypes', (webhook).event_types,
  'maxEventAge', (webhook).max_event_age,
  'maxConcurrency', (webhook).max_concurrency,
  'maxPerSecond', (webhook).max_per_second,
  'include', (webhook).include,
  'format', (webhook).format,
  'createdAt', svc.iso((webhook).created_at),
  'previousSecretExpiresAt', case
    when (webhook).previous_secret_expires_at > now() then svc.iso((webhook).previous_secret_expires_at)
  end,
  'failingSince', svc.iso((webhook).failing_since),
  'disabledAt', svc.iso((webhook).disabled_at),
  'disabledReason', (webhook).disabled_reason
);

comment on function svc.webhook_document(svc.webhooks) is 'A webhook in the format of lists and changes, without its secrets.';
