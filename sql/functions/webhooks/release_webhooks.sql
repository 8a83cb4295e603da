-- Ends the leases of a worker that stops, so that others need not wait until they expire.
-- Raises nothing. Locks the webhooks that the worker holds.
create or replace function svc_api.release_webhooks(worker_id text)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  update svc.webhooks as w
  set leased_by = null, leased_until = null
  where w.leased_by = release_webhooks.worker_id;
  select pg_notify('svc_deliveries', '');
$$;

comment on function svc_api.release_webhooks(text) is 'Ends the leases of a worker that stops delivering.';
