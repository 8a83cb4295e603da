-- Sends one emission to a webhook again, with the whole schedule starting now, as the same message. If it has no delivery there, because
-- the webhook was disabled or did not want it, one is added: the caller asked for this emission explicitly. A pending one becomes due now.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, WEBHOOK_NOT_FOUND and DELIVERY_NOT_FOUND, SV005
-- WEBHOOK_DISABLED. Locks the emission against erasure, then the delivery's row.
create or replace function svc_api.resend_delivery(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, webhook_id text, delivery_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'resend_delivery');
  _webhook constant svc.webhooks := svc.enabled_webhook(_environment.environment_id, resend_delivery.webhook_id);
  _seq constant bigint := svc_inspect.emission_seq(resend_delivery.delivery_id);
  _written_at timestamptz;
  _now constant timestamptz := now();
begin
  perform svc.require_unfrozen(_environment.environment_id);
  select m.created_at into _written_at
  from svc.emissions as m
  where m.environment_id = _webhook.environment_id and m.emission_seq = _seq
  for key share;
  if not found then
    perform svc.raise_delivery_not_found(resend_delivery.delivery_id);
  end if;

  update svc.deliveries as d
  set status = 'pending', resent_after = d.attempts, next_attempt_at = _now, finished_at = null
  where d.environment_id = _webhook.environment_id and d.webhook_id = _webhook.webhook_id and d.emission_seq = _seq;
  if not found then
    if _written_at < svc.active_from(_webhook.created_at, _now) then
      perform svc.raise_delivery_not_found(
        resend_delivery.delivery_id,
        format('It was written at %s, before the webhook was created.', svc.iso(_written_at))
      );
    end if;
    -- Another call may add it at the same time.
    insert into svc.deliveries as d (environment_id, webhook_id, emission_seq)
    values (_webhook.environment_id, _webhook.webhook_id, _seq)
    on conflict (environment_id, webhook_id, emission_seq) do update
    set status = 'pending', resent_after = d.attempts, next_attempt_at = _now, finished_at = null;
    perform svc.write_delivery_bodies(_webhook.environment_id, array[_webhook.webhook_id], array[_seq], array[_seq]);
  end if;

  perform iam.record_audit(
    _environment.actor, resend_delivery.request_id, 'webhook.resent', resend_delivery.project_slug, resend_delivery.environment_name,
    _webhook.webhook_id, jsonb_build_object('id', svc.emission_id(_seq), 'queued', 1)
  );
  perform pg_notify('svc_deliveries', '');
  return svc.delivery_item(_webhook.environment_id, _webhook.webhook_id, _seq);
end;
$$;

comment on function svc_api.resend_delivery(bytea, text, text, text, text, text, text) is 'Sends one emission to a webhook again.';
