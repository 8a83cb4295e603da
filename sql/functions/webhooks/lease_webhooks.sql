-- Leases webhooks of an environment to a worker, and answers those that it got: of those that are free, or its own.
-- Raises nothing. Locks the webhooks that it leases; those that others are leasing are passed over.
create or replace function svc.lease_webhooks(
  environment_id integer, webhook_ids text[], worker_id text, at timestamptz, until timestamptz
)
returns text[]
language plpgsql
volatile
set search_path = ''
as $$
#variable_conflict use_column
declare
  _got text[];
begin
  with free as materialized (
    select k.webhook_id
    from svc.webhooks as k
    where k.environment_id = lease_webhooks.environment_id and k.webhook_id = any(lease_webhooks.webhook_ids)
      and (k.leased_by is null or k.leased_until <= lease_webhooks.at or k.leased_by = lease_webhooks.worker_id)
    for no key update of k skip locked
  ),
  leased as (
    update svc.webhooks as w
    set leased_by = lease_webhooks.worker_id, leased_until = lease_webhooks.until
    from free as f
    where w.environment_id = lease_webhooks.environment_id and w.webhook_id = f.webhook_id
    returning w.webhook_id
  )
  select array_agg(l.webhook_id) into _got from leased as l;
  return _got;
end;
$$;

comment on function svc.lease_webhooks(integer, text[], text, timestamptz, timestamptz) is 'Leases webhooks of an environment to a worker.';
