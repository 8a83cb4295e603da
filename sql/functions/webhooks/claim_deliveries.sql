-- What is due, for this worker to deliver: each delivery with all that sending needs. A worker delivers to a webhook while it holds its
-- lease, alone: it knows by itself what is under way there, and nothing is written when a delivery is taken. It says what it holds, and
-- how much of each webhook that it knows it may hold; of another one `first_limit`, or a single one where it is failing. Of those that
-- are failing `failing_total` are handed out at most, of all `total`: those first of which the worker has least, and what is due longest.
-- A lease lasts 15 seconds from the last call that needed it; whoever is silent for longer is taken for dead, and what it had is due.
-- What is pending at a disabled webhook waits.
-- Raises nothing. Locks the webhooks that it leases; those that others are leasing are passed over.
create or replace function svc_api.claim_deliveries(
  worker_id text, held_webhooks text[], held_emissions bigint[], known_webhooks text[], known_rooms integer[],
  first_limit integer, total integer, failing_total integer
)
returns table (
  environment_id integer,
  webhook_id text,
  emission_seq bigint,
  attempt integer,
  event_id text,
  url text,
  sealed_secret bytea,
  previous_sealed_secret bytea,
  max_concurrency integer,
  max_per_second integer,
  failing boolean,
  body text
)
language plpgsql
volatile
security definer
set search_path = ''
-- Queues grow faster than their statistics: a plan made while the table was small must not read or sort all of a webhook's backlog
-- an hour later. What has to be sorted still is; the costs this pretends must not set off compilation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
  _lease constant interval := '15 seconds';
  _now constant timestamptz := clock_timestamp();
begin
  return query
  with recursive waiting as (
    -- One index probe per webhook that has anything pending: its first row tells whether something is due.
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
  ),
  held as (
    select h.webhook_id, count(*) as held
    from unnest(claim_deliveries.held_webhooks) as h (webhook_id)
    group by h.webhook_id
  ),
  open_webhooks as materialized (
    select
      e.environment_id, e.webhook_id, e.next_attempt_at, w.url, w.sealed_secret, w.max_concurrency, w.max_per_second,
      case when w.previous_secret_expires_at > _now then w.previous_sealed_secret end as previous_sealed_secret,
      w.failing_since is not null as failing,
      (w.leased_by = claim_deliveries.worker_id and w.leased_until > _now + _lease / 2) is true as leased,
      coalesce(h.held, 0) as held,
      coalesce(n.room, case when w.failing_since is null then claim_deliveries.first_limit else 1 end - coalesce(h.held, 0)) as room
    from waiting as e
    cross join lateral (
      select k.*
      from svc.webhooks as k
      where k.environment_id = e.environment_id and k.webhook_id = e.webhook_id
      limit 1
    ) as w
    left join held as h on h.webhook_id = e.webhook_id
    left join unnest(claim_deliveries.known_webhooks, claim_deliveries.known_rooms) as n (webhook_id, room)
      on n.webhook_id = e.webhook_id
    where e.next_attempt_at <= _now
      and w.disabled_at is null
      and w.deleted_at is null
      and (w.leased_by is null or w.leased_until <= _now or w.leased_by = claim_deliveries.worker_id)
  ),
  -- No more webhooks than deliveries are handed out.
  chosen as (
    (
      select o.* from open_webhooks as o
      where o.room > 0 and not o.failing
      order by o.next_attempt_at, o.webhook_id
      limit claim_deliveries.total
    )
    union all
    (
      select o.* from open_webhooks as o
      where o.room > 0 and o.failing
      order by o.next_attempt_at, o.webhook_id
      limit claim_deliveries.failing_total
    )
  ),
  due as materialized (
    select c.*, d.emission_seq, d.attempts, c.held + d.position as turn, d.due_at
    from chosen as c
    cross join lateral (
      -- What this worker holds is passed over: fewer rows than it may hold.
      select
        k.emission_seq, k.attempts, k.next_attempt_at as due_at, row_number() over (order by k.next_attempt_at, k.emission_seq) as position
      from svc.deliveries as k
      where k.environment_id = c.environment_id and k.webhook_id = c.webhook_id
        and k.status = 'pending' and k.next_attempt_at <= _now
        and (k.webhook_id, k.emission_seq) not in (
          select h.webhook_id, h.emission_seq
          from unnest(claim_deliveries.held_webhooks, claim_deliveries.held_emissions) as h (webhook_id, emission_seq)
        )
      order by k.next_attempt_at, k.emission_seq
      limit c.room
    ) as d
    order by turn, d.due_at, d.emission_seq
    limit claim_deliveries.total
  ),
  unleased as materialized (
    select k.environment_id, k.webhook_id
    from open_webhooks as o
    join svc.webhooks as k on k.environment_id = o.environment_id and k.webhook_id = o.webhook_id
    where not o.leased
      and (o.held > 0 or o.webhook_id in (select d.webhook_id from due as d))
      -- Asked again of a row that changed meanwhile: another worker may have been quicker.
      and (k.leased_by is null or k.leased_until <= _now or k.leased_by = claim_deliveries.worker_id)
    for no key update of k skip locked
  ),
  leased as (
    update svc.webhooks as w
    set leased_by = claim_deliveries.worker_id, leased_until = _now + _lease
    from unleased as u
    where w.environment_id = u.environment_id and w.webhook_id = u.webhook_id
    returning w.webhook_id
  )
  select
    d.environment_id, d.webhook_id, d.emission_seq, d.attempts + 1, svc.emission_id(d.emission_seq), d.url, d.sealed_secret,
    d.previous_sealed_secret, d.max_concurrency, d.max_per_second, d.failing,
    coalesce(b.body, svc.delivery_body(m, v.name)::text)
  from due as d
  cross join lateral (
    select k.* from svc.emissions as k where k.environment_id = d.environment_id and k.emission_seq = d.emission_seq limit 1
  ) as m
  cross join lateral (
    select k.name from svc.environments as k where k.environment_id = d.environment_id limit 1
  ) as v
  left join lateral (
    select k.body
    from svc.delivery_bodies as k
    where k.environment_id = d.environment_id and k.webhook_id = d.webhook_id and k.emission_seq = d.emission_seq
    limit 1
  ) as b on true
  where d.leased or d.webhook_id in (select l.webhook_id from leased as l)
  order by d.turn, d.due_at, d.emission_seq;
end;
$$;

comment on function svc_api.claim_deliveries(text, text[], bigint[], text[], integer[], integer, integer, integer) is
  'What is due, fairly over the webhooks that this worker alone delivers to, with what sending it needs.';
