-- Says that a webhook has no such delivery, and why, where that is known.
-- Raises SV004 DELIVERY_NOT_FOUND, always. Locks nothing.
create or replace function svc.raise_delivery_not_found(delivery_id text, reason text default null)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV004',
    message = 'DELIVERY_NOT_FOUND',
    detail = jsonb_build_object(
      'message', format('There is no delivery "%s" to this webhook.', left(raise_delivery_not_found.delivery_id, 256)),
      'reason', raise_delivery_not_found.reason,
      'fix', 'Check the id, which is that of the emission; GET /projects/:project/webhooks/:webhook/deliveries lists the deliveries.'
    )::text;
end;
$$;

comment on function svc.raise_delivery_not_found(text, text) is 'Raises DELIVERY_NOT_FOUND.';
