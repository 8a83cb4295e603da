-- Reports that a webhook has no such delivery, and why, if known.
-- Always raises SV004 DELIVERY_NOT_FOUND. Locks nothing.
create or replace function svc.raise_delivery_not_found(delivery_id text, reason text default null)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform svc.raise_not_found(
    'DELIVERY_NOT_FOUND', 'delivery', raise_delivery_not_found.delivery_id, 'to this webhook',
    'Check the id, which is that of the emission; GET /projects/:project/webhooks/:webhook/deliveries lists the deliveries.',
    jsonb_build_object('reason', raise_delivery_not_found.reason)
  );
end;
$$;

comment on function svc.raise_delivery_not_found(text, text) is 'Raises DELIVERY_NOT_FOUND.';
