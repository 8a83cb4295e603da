-- Takes up to `total` due deliveries for this worker, each with all that sending needs, for 60 seconds: whoever has not recorded an
-- attempt by then is taken for dead, and the delivery is due again. No endpoint gets more than `per_endpoint` in flight, over all
-- workers; among endpoints, those with the least in flight come first, and within one, the oldest. The body is made here, because a
-- number in the metadata may exceed what JavaScript's hold. What is pending at a disabled webhook waits.
-- Raises nothing. Claims of different workers wait for each other (advisory lock), so that the count in flight is exact; rows that
-- others hold are skipped.
create or replace function svc_api.claim_deliveries(worker_id text, per_endpoint integer, total integer)
returns table (
  environment_id integer,
  webhook_id text,
  emission_seq bigint,
  attempt integer,
  event_id text,
  url text,
  sealed_secret bytea,
  body text
)
language plpgsql
volatile
security definer
set search_path = ''
-- Queues grow faster than their statistics: a plan made while the table was small must not read or sort all of an endpoint's backlog
-- an hour later. What has to be sorted still is; the costs this pretends must not set off compilation.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
#variable_conflict use_column
declare
  _now timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('svc_api.claim_deliveries', 0));
  _now := clock_timestamp();

  return query
  with recursive endpoints as (
    -- One index probe per endpoint that has anything pending: its first row tells whether something is due.
    (
      select d.environment_id, d.webhook_id, d.next_attempt_at
      from svc.deliveries as d
      where d.status = 'pending'
      order by d.environment_id, d.webhook_id, d.next_attempt_at
      limit 1
    )
    union all
    select n.environment_id, n.webhook_id, n.next_attempt_at
    from endpoints as e
    cross join lateral (
      select d.environment_id, d.webhook_id, d.next_attempt_at
      from svc.deliveries as d
      where d.status = 'pending' and (d.environment_id, d.webhook_id) > (e.environment_id, e.webhook_id)
      order by d.environment_id, d.webhook_id, d.next_attempt_at
      limit 1
    ) as n
  ),
  open_endpoints as (
    select e.environment_id, e.webhook_id, w.url, w.sealed_secret, f.in_flight
    from endpoints as e
    join svc.webhooks as w on w.environment_id = e.environment_id and w.webhook_id = e.webhook_id and w.disabled_at is null
    cross join lateral (
      select count(*) as in_flight
      from svc.deliveries as d
      where d.environment_id = e.environment_id and d.webhook_id = e.webhook_id
        and d.status = 'pending' and d.claimed_until > _now
    ) as f
    where e.next_attempt_at <= _now and f.in_flight < claim_deliveries.per_endpoint
  ),
  due as (
    select
      o.environment_id, o.webhook_id, o.url, o.sealed_secret, d.emission_seq, d.next_attempt_at,
      o.in_flight + row_number() over (partition by o.environment_id, o.webhook_id order by d.next_attempt_at, d.emission_seq) as turn
    from open_endpoints as o
    cross join lateral (
      -- What is in flight here is passed over: fewer rows than the limit.
      select d.emission_seq, d.next_attempt_at
      from svc.deliveries as d
      where d.environment_id = o.environment_id and d.webhook_id = o.webhook_id
        and d.status = 'pending' and d.next_attempt_at <= _now and (d.claimed_until is null or d.claimed_until <= _now)
      order by d.next_attempt_at, d.emission_seq
      limit claim_deliveries.per_endpoint - o.in_flight
    ) as d
    order by turn, d.next_attempt_at, d.emission_seq
    limit claim_deliveries.total
  ),
  locked as materialized (
    select d.environment_id, d.webhook_id, d.emission_seq, due.url, due.sealed_secret, due.turn
    from due
    join svc.deliveries as d
      on d.environment_id = due.environment_id and d.webhook_id = due.webhook_id and d.emission_seq = due.emission_seq
    where d.status = 'pending' and d.next_attempt_at <= _now and (d.claimed_until is null or d.claimed_until <= _now)
    for update of d skip locked
  ),
  claimed as (
    update svc.deliveries as d
    set claimed_until = _now + interval '60 seconds', claimed_by = claim_deliveries.worker_id
    from locked as l
    where d.environment_id = l.environment_id and d.webhook_id = l.webhook_id and d.emission_seq = l.emission_seq
    returning d.environment_id, d.webhook_id, d.emission_seq, d.attempts, l.url, l.sealed_secret, l.turn
  )
  select
    c.environment_id, c.webhook_id, c.emission_seq, c.attempts + 1, i.event_id, c.url, c.sealed_secret,
    json_build_object(
      'id', i.event_id,
      'type', m.event_type,
      'timestamp', svc.iso(m.emitted_at),
      'data', json_build_object(
        'customerId', m.customer_id,
        'environment', v.name,
        'source', m.source,
        'metadata', m.metadata,
        'configVersion', 'v' || m.config_version,
        'cause', json_build_object('type', m.cause_type, 'id', m.cause_id),
        'sequence', m.emission_seq
      )
    )::text
  from claimed as c
  join svc.emissions as m on m.environment_id = c.environment_id and m.emission_seq = c.emission_seq
  join svc.environments as v on v.environment_id = c.environment_id
  cross join lateral svc.emission_id(c.emission_seq) as i (event_id)
  order by c.turn, c.emission_seq;
end;
$$;

comment on function svc_api.claim_deliveries(text, integer, integer) is
  'Takes due deliveries, fairly across endpoints and below each one''s limit in flight; answers what sending them needs.';
