-- The due deliveries for this worker, each with all that sending needs. Only the worker that holds a webhook's lease delivers to it: it
-- knows what is in progress there, so claiming a delivery writes nothing. The worker passes the deliveries that it holds, and how many more
-- it may hold of each webhook that it knows; of another webhook it gets `first_limit`, or a single one if that is failing. At most `total`
-- deliveries are handed out, `failing_total` of them to failing webhooks: first to the webhooks of which the worker holds least, of these
-- first to one of each organization, whose environments take turns, then by due time. A lease lasts 15 seconds from the last call that
-- needed it; a worker silent for longer counts as dead, and its deliveries are due. Pending deliveries of disabled webhooks and frozen
-- environments wait; those that the worker holds there keep their lease.
-- Raises nothing. Locks the webhooks that it leases; skips those that others are leasing.
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
-- an hour later. What must be sorted still is; the pretended costs must not trigger JIT compilation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  _lease constant interval := '15 seconds';
  _now constant timestamptz := clock_timestamp();
  _until constant timestamptz := _now + _lease;
  -- By webhook: how many deliveries are held, and how many more may be.
  _held constant jsonb := (
    select coalesce(jsonb_object_agg(h.webhook_id, h.held), '{}')
    from (select u.webhook_id, count(*) as held from unnest(claim_deliveries.held_webhooks) as u (webhook_id) group by u.webhook_id) as h
  );
  _rooms jsonb := (
    select coalesce(jsonb_object_agg(n.webhook_id, n.room), '{}')
    from unnest(claim_deliveries.known_webhooks, claim_deliveries.known_rooms) as n (webhook_id, room)
  );
  _unleased_ids integer[];
  _unleased text[];
  _ids integer[];
  _webhooks text[];
  _seqs bigint[];
  _attempts integer[];
  -- By webhook: its place among those of its organization, and when its first delivery is due.
  _places jsonb;
  _due_at jsonb;
  _environments jsonb;
  _lacking record;
  _refused text[] := '{}';
begin
  with open_webhooks as materialized (
    select
      o.*,
      coalesce(
        (_rooms ->> o.webhook_id)::integer,
        case when o.failing then 1 else claim_deliveries.first_limit end - coalesce((_held ->> o.webhook_id)::integer, 0)
      ) as room
    from svc.open_webhooks(claim_deliveries.worker_id, _now, _lease) as o
  ),
  -- In each environment those that have waited longest come first.
  waiting as (
    select
      o.*, e.organization_id,
      row_number() over (partition by o.environment_id, o.failing order by o.due_at, o.webhook_id) as place_there
    from open_webhooks as o
    -- By key: without hash joins, a join would compare each webhook with each environment.
    cross join lateral (
      select p.organization_id, k.frozen_at
      from svc.environments as k
      join svc.projects as p on p.project_id = k.project_id
      where k.environment_id = o.environment_id
      limit 1
    ) as e
    where o.due_at is not null and o.room > 0 and e.frozen_at is null
  ),
  -- In each organization its environments take turns, so that one with many has no more turns than others.
  ready as (
    select
      w.*, row_number() over (partition by w.organization_id, w.failing order by w.place_there, w.due_at, w.webhook_id) as place
    from waiting as w
  ),
  -- Never more webhooks than deliveries to hand out.
  chosen as (
    (
      select r.* from ready as r where not r.failing order by r.place, r.due_at, r.webhook_id limit claim_deliveries.total
    )
    union all
    (
      select r.* from ready as r where r.failing order by r.place, r.due_at, r.webhook_id limit claim_deliveries.failing_total
    )
  )
  select
    array_agg(c.environment_id), array_agg(c.webhook_id), jsonb_object_agg(c.webhook_id, c.place),
    jsonb_object_agg(c.webhook_id, c.due_at), jsonb_object_agg(c.webhook_id, c.room),
    (select array_agg(o.environment_id order by o.webhook_id) from open_webhooks as o where not o.leased),
    (select array_agg(o.webhook_id order by o.webhook_id) from open_webhooks as o where not o.leased)
  into _ids, _webhooks, _places, _due_at, _rooms, _unleased_ids, _unleased
  from chosen as c;

  if _ids is not null then
    select
      array_agg(d.environment_id order by d.n), array_agg(d.webhook_id order by d.n), array_agg(d.emission_seq order by d.n),
      array_agg(d.attempts order by d.n)
    into _ids, _webhooks, _seqs, _attempts
    from (
      select r.*, row_number() over (order by r.turn, r.place, r.due_at, r.emission_seq) as n
      from (
        select
          w.environment_id, w.webhook_id, (_places ->> w.webhook_id)::integer as place, k.emission_seq, k.attempts, k.due_at,
          coalesce((_held ->> w.webhook_id)::integer, 0) + k.position as turn
        from unnest(_ids, _webhooks) as c (environment_id, webhook_id)
        join svc.webhooks as w on w.environment_id = c.environment_id and w.webhook_id = c.webhook_id
        cross join lateral (
          -- Skip what this worker holds, which is fewer rows than it may hold.
          select
            k.emission_seq, k.attempts, k.next_attempt_at as due_at,
            row_number() over (partition by k.environment_id order by k.next_attempt_at, k.emission_seq) as position
          from svc.deliveries as k
          where k.environment_id = w.environment_id and k.webhook_id = w.webhook_id
            and k.status = 'pending' and k.next_attempt_at <= _now
            -- Skip everything delivered since the last vacuum before the first due row.
            and k.next_attempt_at >= (_due_at ->> w.webhook_id)::timestamptz
            and (k.webhook_id, k.emission_seq) not in (
              select h.webhook_id, h.emission_seq
              from unnest(claim_deliveries.held_webhooks, claim_deliveries.held_emissions) as h (webhook_id, emission_seq)
            )
          order by k.next_attempt_at, k.emission_seq
          limit (_rooms ->> w.webhook_id)::integer
        ) as k
        order by turn, place, k.due_at, k.emission_seq
        limit claim_deliveries.total
      ) as r
    ) as d;
  end if;

  for _lacking in
    select array_agg(u.environment_id) as environment_ids, array_agg(u.webhook_id) as webhook_ids
    from svc.by_shard(_unleased_ids) as g (environment_ids)
    join unnest(_unleased_ids, _unleased) as u (environment_id, webhook_id) on u.environment_id = any(g.environment_ids)
    where _held ? u.webhook_id or u.webhook_id = any(_webhooks)
    group by g.environment_ids
  loop
    _refused := _refused || array(
      select unnest(_lacking.webhook_ids)
      except
      select unnest(
        svc.lease_webhooks(_lacking.environment_ids, _lacking.webhook_ids, claim_deliveries.worker_id, _now, _until)
      )
    );
  end loop;

  if _ids is null then
    return;
  end if;
  select jsonb_object_agg(e.environment_id, e.name) into _environments
  from svc.environments as e
  where e.environment_id = any(_ids);

  return query
  select
    d.environment_id, d.webhook_id, d.emission_seq, d.attempts + 1, svc.emission_id(d.emission_seq), w.url, w.sealed_secret,
    case when w.previous_secret_expires_at > _now then w.previous_sealed_secret end, w.max_concurrency, w.max_per_second,
    w.failing_since is not null,
    coalesce(
      b.body,
      svc.delivery_body(
        _environments ->> d.environment_id::text, m.emission_seq, m.customer_id, m.event_type, m.source, m.metadata, m.emitted_at,
        m.cause_type, m.cause_id, m.config_version
      )::text
    )
  from unnest(_ids, _webhooks, _seqs, _attempts) with ordinality as u (environment_id, webhook_id, emission_seq, attempts, n)
  cross join lateral (
    select k.environment_id, k.webhook_id, k.emission_seq, k.attempts
    from svc.deliveries as k
    where k.environment_id = u.environment_id and k.webhook_id = u.webhook_id and k.emission_seq = u.emission_seq
      -- Skip what was attempted meanwhile.
      and k.attempts = u.attempts
    -- Groups one row, so that each is looked up by key, whatever the statistics say; Citus does not accept a limit here.
    group by k.environment_id, k.webhook_id, k.emission_seq, k.attempts
  ) as d
  join svc.webhooks as w on w.environment_id = d.environment_id and w.webhook_id = d.webhook_id
  cross join lateral (
    select k.* from svc.emissions as k where k.environment_id = d.environment_id and k.emission_seq = d.emission_seq limit 1
  ) as m
  left join lateral (
    select k.body
    from svc.delivery_bodies as k
    where k.environment_id = d.environment_id and k.webhook_id = d.webhook_id and k.emission_seq = d.emission_seq
    limit 1
  ) as b on true
  where u.webhook_id <> all(_refused)
  order by u.n;
end;
$$;

comment on function svc_api.claim_deliveries(text, text[], bigint[], text[], integer[], integer, integer, integer) is
  'Due deliveries with all that sending needs, fairly over the webhooks that this worker alone delivers to.';
