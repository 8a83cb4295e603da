-- The webhooks of all environments that have due deliveries and to which this worker may deliver: when the first delivery was due,
-- whether the webhook is failing, and whether the worker holds a lease with more than half of its time left. A disabled
-- webhook is included only if this worker leases it, to renew the lease for deliveries in progress; its due_at is null.
-- Called with the settings of svc_api.claim_deliveries.
-- Raises nothing, locks nothing.
create or replace function svc.open_webhooks(worker_id text, at timestamptz, lease interval)
returns table (environment_id integer, webhook_id text, due_at timestamptz, failing boolean, leased boolean)
language plpgsql
stable
set search_path = ''
as $$
declare
  _until constant timestamptz := open_webhooks.at + open_webhooks.lease;
  _lasts_until constant timestamptz := open_webhooks.at + open_webhooks.lease / 2;
begin
  if to_regnamespace('svc_citus') is null then
    return query
    with recursive waiting as (
      -- One index probe per webhook that has pending deliveries: its first row shows whether one is due.
      (
        select d.environment_id, d.webhook_id, d.next_attempt_at
        from svc.deliveries as d
        where d.status = 'pending'
        order by d.environment_id, d.webhook_id, d.next_attempt_at
        limit 1
      )
      union all
      select n.environment_id, n.webhook_id, n.next_attempt_at
      from waiting as e
      cross join lateral (
        select d.environment_id, d.webhook_id, d.next_attempt_at
        from svc.deliveries as d
        where d.status = 'pending' and (d.environment_id, d.webhook_id) > (e.environment_id, e.webhook_id)
        order by d.environment_id, d.webhook_id, d.next_attempt_at
        limit 1
      ) as n
    )
    select
      e.environment_id, e.webhook_id, case when w.disabled_at is null then e.next_attempt_at end, w.failing_since is not null,
      (
        w.leased_by = open_webhooks.worker_id and w.leased_until > _lasts_until
        and not svc.is_lease_over(w.leased_until, open_webhooks.at, _until)
      ) is true
    from waiting as e
    cross join lateral (
      select k.failing_since, k.disabled_at, k.deleted_at, k.leased_by, k.leased_until
      from svc.webhooks as k
      where k.environment_id = e.environment_id and k.webhook_id = e.webhook_id
      limit 1
    ) as w
    where e.next_attempt_at <= open_webhooks.at
      and w.deleted_at is null
      and (
        w.disabled_at is null and svc.is_lease_over(w.leased_until, open_webhooks.at, _until)
        or w.leased_by = open_webhooks.worker_id
      );
  else
    -- Tables distributed over nodes cannot be read recursively: each node looks up the first row of each of its webhooks.
    return query
    select
      w.environment_id, w.webhook_id, case when w.disabled_at is null then d.next_attempt_at end, w.failing_since is not null,
      (
        w.leased_by = open_webhooks.worker_id and w.leased_until > _lasts_until
        and not svc.is_lease_over(w.leased_until, open_webhooks.at, _until)
      ) is true
    from svc.webhooks as w
    cross join lateral (
      select k.next_attempt_at
      from svc.deliveries as k
      where k.environment_id = w.environment_id and k.webhook_id = w.webhook_id and k.status = 'pending'
      order by k.next_attempt_at, k.emission_seq
      limit 1
    ) as d
    where d.next_attempt_at <= open_webhooks.at
      and w.deleted_at is null
      and (
        w.disabled_at is null and svc.is_lease_over(w.leased_until, open_webhooks.at, _until)
        or w.leased_by = open_webhooks.worker_id
      );
  end if;
end;
$$;

comment on function svc.open_webhooks(text, timestamptz, interval) is
  'The webhooks that have due deliveries and to which a worker may deliver.';
