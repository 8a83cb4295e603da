-- Records delivery attempts, set-based, and their consequences: 2xx is delivered; 410 is failed and disables the webhook; anything else is
-- due again by svc.delivery_delay with 10 % jitter, or after retryAfterSeconds (at most 24 hours) if that is later, or failed after the
-- last attempt. A webhook at which all attempts of five days failed is disabled. Attempts from before a webhook was enabled or got its
-- address do not affect it; a delivery that one would end as failed is due now, with a new schedule. `results` is an array of
-- {environmentId, webhookId, emissionSeq, attempt, attemptedAt, latencyMs, statusCode, error, response, retryAfterSeconds}. Answers
-- {recorded, disabled: [{webhookId, reason}]}: what is already recorded, finished or gone is not counted, so a call can be repeated.
-- Raises nothing of its own. Locks the deliveries in key order, then the webhooks that it changes or of which a delivery fails; on a
-- cluster shard by shard.
create or replace function svc_api.record_attempts(results jsonb)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, and plan only once.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  _now constant timestamptz := now();
  _now_seconds constant double precision := extract(epoch from _now);
  _long_ago constant timestamptz := _now - interval '5 days';
  _of record;
  -- Parallel arrays of the attempts recorded.
  _places integer[];
  _ids integer[];
  _webhooks text[];
  _seqs bigint[];
  _attempts integer[];
  _statuses text[];
  -- Whether its schedule of attempts begins anew, now.
  _renewed boolean[];
  _due timestamptz[];
  _dated integer[];
  _days date[];
  _disabled_ids integer[];
  _disabled text[];
  _reasons text[];
  _recorded integer := 0;
  _documents json[] := '{}';
begin
  for _of in
    with attempts as materialized (
      select distinct on (r."environmentId", r."webhookId", r."emissionSeq")
        r."environmentId" as environment_id,
        r."webhookId" as webhook_id,
        r."emissionSeq" as emission_seq,
        r.attempt,
        r."attemptedAt" as attempted_at,
        r."latencyMs" as latency_ms,
        r."statusCode" as status_code,
        r.error,
        r.response,
        r."retryAfterSeconds" as retry_after
      from jsonb_to_recordset(record_attempts.results) as r (
        "environmentId" integer, "webhookId" text, "emissionSeq" bigint, attempt integer, "attemptedAt" timestamptz,
        "latencyMs" integer, "statusCode" integer, error text, response text, "retryAfterSeconds" double precision
      )
      order by r."environmentId", r."webhookId", r."emissionSeq", r.attempt
    )
    select
      g.environment_ids, array_agg(a.environment_id) as ids, array_agg(a.webhook_id) as webhook_ids,
      array_agg(a.emission_seq) as emission_seqs, array_agg(a.attempt) as attempts, array_agg(a.attempted_at) as attempted_at,
      array_agg(a.latency_ms) as latencies, array_agg(a.status_code) as status_codes, array_agg(a.error) as errors,
      array_agg(a.response) as responses,
      array_agg(least(a.retry_after, case when a.retry_after is not null then 86400 end)) as retry_after,
      array_agg(0.9 + 0.2 * random()) as jitter
    from svc.by_shard(array(select t.environment_id from attempts as t)) as g (environment_ids)
    join attempts as a on a.environment_id = any(g.environment_ids)
    group by g.environment_ids
    order by g.environment_ids
  loop
    with current_attempts as materialized (
      select
        a.*,
        a.status_code between 200 and 299 as accepted,
        a.status_code = 410 as gone,
        extract(epoch from svc.delivery_delay(a.attempt - d.resent_after + 1)) * a.jitter as delay
      from (
        select u.*
        from unnest(
          _of.ids, _of.webhook_ids, _of.emission_seqs, _of.attempts, _of.attempted_at, _of.status_codes, _of.errors, _of.retry_after,
          _of.jitter
        ) with ordinality as u (
          environment_id, webhook_id, emission_seq, attempt, attempted_at, status_code, error, retry_after, jitter, place
        )
        order by u.environment_id, u.webhook_id, u.emission_seq
      ) as a
      cross join lateral (
        select k.resent_after
        from svc.deliveries as k
        where k.environment_id = any(_of.environment_ids)
          and k.environment_id = a.environment_id and k.webhook_id = a.webhook_id and k.emission_seq = a.emission_seq
          -- Means "is pending", written so that only the key can serve, not the index of pending deliveries. After waiting for a call with
          -- the same attempt, this is checked again and is then false.
          and k.finished_at is null and k.attempts = a.attempt - 1
        limit 1
        for update
      ) as d
    ),
    outcomes as (
      select
        a.environment_id, a.webhook_id, min(a.attempted_at) as first_attempted_at, max(a.attempted_at) as last_attempted_at,
        max(a.attempted_at) filter (where a.accepted) as accepted_at, max(a.attempted_at) filter (where a.gone) as gone_at,
        bool_or(a.accepted is not true and (a.gone or a.delay is null)) as fails_any,
        (array_agg(coalesce('HTTP ' || a.status_code, a.error) order by a.attempted_at desc))[1] as last_outcome
      from current_attempts as a
      group by a.environment_id, a.webhook_id
    ),
    concerned as materialized (
      select
        w.environment_id, w.webhook_id, svc.active_from(w.active_since, _now) as active_since, w.disabled_at is null as enabled,
        o.first_attempted_at < svc.active_from(w.active_since, _now) as was_changed,
        case
          when o.last_attempted_at < svc.active_from(w.active_since, _now) then w.failing_since
          when (o.accepted_at >= svc.active_from(w.active_since, _now)) is not true then
            -- The earlier one, also of one in the future, from before the clock was set back.
            least(w.failing_since, greatest(svc.active_from(w.active_since, _now), o.first_attempted_at))
        end as failing_since,
        case
          when o.last_attempted_at < svc.active_from(w.active_since, _now) then null
          when o.gone_at >= svc.active_from(w.active_since, _now) then 'The endpoint answered 410 Gone.'
          when (o.accepted_at >= svc.active_from(w.active_since, _now)) is not true and w.failing_since <= _long_ago then
            format('No attempt has succeeded since %s; the last one: %s.', svc.iso(w.failing_since), left(o.last_outcome, 500))
        end as reason
      from outcomes as o
      join svc.webhooks as w on w.environment_id = o.environment_id and w.webhook_id = o.webhook_id
      where w.environment_id = any(_of.environment_ids)
        and (
          -- Locked, so that none gets another address, or is enabled, while its delivery ends as failed.
          o.fails_any
          -- Most change nothing: a webhook that succeeds keeps succeeding.
          or o.last_attempted_at >= svc.active_from(w.active_since, _now)
          and (
            coalesce(o.accepted_at >= svc.active_from(w.active_since, _now), false) = (w.failing_since is not null)
            or w.failing_since <= _long_ago
            or w.failing_since > _now + interval '1 minute'
          )
        )
      order by w.environment_id, w.webhook_id
      for no key update of w
    ),
    -- Usually none, so that the deliveries that fail are compared with nothing.
    former as materialized (
      select c.environment_id, c.webhook_id, c.active_since from concerned as c where c.was_changed
    ),
    disabled as (
      select c.environment_id, c.webhook_id, c.reason from concerned as c where c.reason is not null and c.enabled
    ),
    noted as (
      update svc.webhooks as w
      set
        failing_since = c.failing_since,
        disabled_at = case when c.reason is null then w.disabled_at else coalesce(w.disabled_at, _now) end,
        disabled_reason = coalesce(w.disabled_reason, c.reason)
      from concerned as c
      where w.environment_id = any(_of.environment_ids) and w.environment_id = c.environment_id and w.webhook_id = c.webhook_id
        and (c.reason is not null or c.failing_since is distinct from w.failing_since)
    ),
    concluded as (
      select
        a.*,
        case
          when a.accepted then 'delivered'
          when (a.gone or a.delay is null) is not true then 'pending'
          when exists (
            select from former as f
            where f.environment_id = a.environment_id and f.webhook_id = a.webhook_id and f.active_since > a.attempted_at
          ) then 'renewed'
          else 'failed'
        end as outcome
      from current_attempts as a
    )
    select
      coalesce(array_agg(c.place), '{}'), array_agg(c.environment_id), array_agg(c.webhook_id), array_agg(c.emission_seq),
      array_agg(c.attempt), array_agg(case when c.outcome = 'renewed' then 'pending' else c.outcome end),
      array_agg(c.outcome = 'renewed'),
      array_agg(case when c.outcome = 'pending' then to_timestamp(_now_seconds + greatest(c.delay, c.retry_after)) end),
      (select array_agg(x.environment_id order by x.environment_id, x.webhook_id) from disabled as x),
      (select array_agg(x.webhook_id order by x.environment_id, x.webhook_id) from disabled as x),
      (select array_agg(x.reason order by x.environment_id, x.webhook_id) from disabled as x)
    into _places, _ids, _webhooks, _seqs, _attempts, _statuses, _renewed, _due, _disabled_ids, _disabled, _reasons
    from concluded as c;
    continue when _places = '{}';
    _recorded := _recorded + cardinality(_places);

    -- The rows exist and are locked; the insert serves to find them by the unique index, whatever the planner knows of the table.
    insert into svc.deliveries as d (environment_id, webhook_id, emission_seq, status, attempts, resent_after, next_attempt_at, finished_at)
    select
      h.environment_id, c.webhook_id, c.emission_seq, c.status, c.attempt, case when c.renewed then c.attempt else 0 end,
      coalesce(c.due_at, _now),
      case when c.status <> 'pending' then _now end
    from svc.homes as h
    join unnest(_ids, _webhooks, _seqs, _attempts, _statuses, _renewed, _due) as c (
      environment_id, webhook_id, emission_seq, attempt, status, renewed, due_at
    ) on c.environment_id = h.environment_id
    where h.environment_id = any(_of.environment_ids)
    on conflict (environment_id, webhook_id, emission_seq) do update
    set
      status = excluded.status,
      attempts = excluded.attempts,
      resent_after = greatest(d.resent_after, excluded.resent_after),
      next_attempt_at = case when excluded.status = 'pending' then excluded.next_attempt_at else d.next_attempt_at end,
      finished_at = excluded.finished_at;

    insert into svc.delivery_attempts (
      environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
    )
    select
      h.environment_id, a.webhook_id, a.emission_seq, a.attempt, a.attempted_at, a.latency_ms, a.status_code, a.error, a.response
    from svc.homes as h
    join unnest(
      _of.ids, _of.webhook_ids, _of.emission_seqs, _of.attempts, _of.attempted_at, _of.latencies, _of.status_codes, _of.errors,
      _of.responses
    ) with ordinality as a (
      environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response, place
    ) on a.environment_id = h.environment_id
    where h.environment_id = any(_of.environment_ids) and a.place = any(_places);

    -- Days in each environment's time zone.
    select
      array_agg(z.environment_id), array_agg((_now at time zone svc.time_zone_of_environment(z.environment_id))::date)
    into _dated, _days
    from (select distinct c.environment_id from unnest(_ids, _statuses) as c (environment_id, status) where c.status <> 'pending') as z;
    if _dated is not null then
      insert into svc.trend_changes (environment_id, measure, day, name, value, count)
      select h.environment_id, 'delivery', z.day, c.webhook_id, c.status, count(*)
      from svc.homes as h
      join unnest(_dated, _days) as z (environment_id, day) on z.environment_id = h.environment_id
      join unnest(_ids, _webhooks, _statuses) as c (environment_id, webhook_id, status) on c.environment_id = h.environment_id
      where h.environment_id = any(_of.environment_ids) and c.status <> 'pending'
      group by h.environment_id, z.day, c.webhook_id, c.status;
    end if;

    if _disabled is not null then
      insert into iam.audit_log (organization_id, actor, action, project, environment, target, details)
      select p.organization_id, 'svc', 'webhook.disabled', p.slug, e.name, x.webhook_id, jsonb_build_object('reason', x.reason)
      from unnest(_disabled_ids, _disabled, _reasons) as x (environment_id, webhook_id, reason)
      join svc.environments as e on e.environment_id = x.environment_id
      join svc.projects as p on p.project_id = e.project_id;
      _documents := _documents || array(
        select json_build_object('webhookId', x.webhook_id, 'reason', x.reason) from unnest(_disabled, _reasons) as x (webhook_id, reason)
      );
    end if;
  end loop;
  return json_build_object('recorded', _recorded, 'disabled', to_json(_documents));
end;
$$;

comment on function svc_api.record_attempts(jsonb) is
  'Records delivery attempts and decides whether each is delivered, due again, or failed. Repeating a call changes nothing.';
