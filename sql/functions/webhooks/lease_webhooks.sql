-- Leases webhooks to a worker, and answers those that it got: those that were free or already its own. environment_ids[i] is that of
-- webhook_ids[i]; all are of one group of svc.by_shard.
-- Raises nothing. Locks the webhooks that it leases; skips those that others are leasing.
create or replace function svc.lease_webhooks(
  environment_ids integer[], webhook_ids text[], worker_id text, at timestamptz, until timestamptz
)
returns text[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  _got text[];
begin
  with free as materialized (
    select k.environment_id, k.webhook_id
    from unnest(lease_webhooks.environment_ids, lease_webhooks.webhook_ids) as u (environment_id, webhook_id)
    join svc.webhooks as k on k.environment_id = u.environment_id and k.webhook_id = u.webhook_id
    where k.environment_id = any(lease_webhooks.environment_ids)
      and (svc.is_lease_over(k.leased_until, lease_webhooks.at, lease_webhooks.until) or k.leased_by = lease_webhooks.worker_id)
    for no key update of k skip locked
  ),
  leased as (
    update svc.webhooks as w
    set leased_by = lease_webhooks.worker_id, leased_until = lease_webhooks.until
    from free as f
    where w.environment_id = any(lease_webhooks.environment_ids)
      and w.environment_id = f.environment_id and w.webhook_id = f.webhook_id
    returning w.webhook_id
  )
  select array_agg(l.webhook_id) into _got from leased as l;
  return _got;
end;
$$;

comment on function svc.lease_webhooks(integer[], text[], text, timestamptz, timestamptz) is 'Leases webhooks to a worker.';
