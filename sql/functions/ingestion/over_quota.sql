-- The positions of the operations that would store an event beyond the rest of a month's quota, or repeat one that would, in order.
-- Identify operations and stored keys store none, and a key repeated within the call stores one. A key that another call is just storing
-- counts here, but not when the call is repeated. svc_api.ingest compares the month with the plan; svc.quota_failure is the refusal.
-- Raises nothing, locks nothing.
create or replace function svc.over_quota(environment_id integer, keys text[], identify boolean[], fresh boolean[], events_left bigint)
returns bigint[]
language sql
stable
set search_path = ''
as $$
  select coalesce(array_agg(o.n - 1 order by o.n), '{}')
  from (
    select u.n, dense_rank() over (order by u.stored_by) as stored
    from (
      select
        k.idempotency_key, k.n,
        case when k.idempotency_key is null then k.n else min(k.n) over (partition by k.idempotency_key) end as stored_by
      from unnest(over_quota.keys, over_quota.identify, over_quota.fresh) with ordinality as k (idempotency_key, identify, fresh, n)
      where not k.identify and k.fresh
    ) as u
    where u.idempotency_key is null
      or not exists (
        select from svc.idempotency_keys as i
        where i.environment_id = over_quota.environment_id and i.idempotency_key = u.idempotency_key
      )
  ) as o
  where o.stored > over_quota.events_left;
$$;

comment on function svc.over_quota(integer, text[], boolean[], boolean[], bigint) is
  'Positions of the operations that would store an event beyond the rest of a month''s quota.';
