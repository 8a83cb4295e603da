-- Writes down attempts to deliver, set-based, and what follows of each: 2xx is delivered; 410 is failed and disables the webhook; anything
-- else is due again by svc.delivery_delay with 10 % jitter, or after retryAfterSeconds (24 hours at most) where that is later, or failed
-- where that was the last attempt. A webhook at which all attempts of five days failed is disabled. Attempts from before it was enabled or
-- given its address decide nothing about the webhook. `results` is an array of
-- {environmentId, webhookId, emissionSeq, attempt, attemptedAt, latencyMs, statusCode, error, response, retryAfterSeconds}. Answers
-- {recorded, disabled: [{webhookId, reason}]}: an attempt of which a record exists, and one of a delivery that is finished or gone,
-- changes nothing and is not counted, so that a call whose answer was lost can be repeated.
-- Raises nothing of its own. Locks the deliveries in key order, then the webhooks it changes.
create or replace function svc_api.record_attempts(results jsonb)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- By key, whatever the statistics say, and planned once.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  _recorded json;
begin
  with attempts as (
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
      -- Not `least` alone, which passes over a null.
      case when r."retryAfterSeconds" is not null then least(r."retryAfterSeconds", 86400) * interval '1 second' end as retry_after
    from jsonb_to_recordset(record_attempts.results) as r (
      "environmentId" integer, "webhookId" text, "emissionSeq" bigint, attempt integer, "attemptedAt" timestamptz,
      "latencyMs" integer, "statusCode" integer, error text, response text, "retryAfterSeconds" double precision
    )
    order by r."environmentId", r."webhookId", r."emissionSeq", r.attempt
  ),
  current_attempts as materialized (
    select
      a.*,
      a.status_code between 200 and 299 as accepted,
      a.status_code = 410 as gone,
      svc.delivery_delay(a.attempt - d.resent_after + 1) * (0.9 + 0.2 * random()) as delay
    from attempts as a
    join svc.deliveries as d
      on d.environment_id = a.environment_id and d.webhook_id = a.webhook_id and d.emission_seq = a.emission_seq
    -- After waiting for a call with the same attempt, this is checked again and no longer holds.
    where d.status = 'pending' and d.attempts = a.attempt - 1
    order by d.environment_id, d.webhook_id, d.emission_seq
    for update of d
  ),
  logged as (
    insert into svc.delivery_attempts (
      environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
    )
    select
      a.environment_id, a.webhook_id, a.emission_seq, a.attempt, a.attempted_at, a.latency_ms, a.status_code, a.error, a.response
    from current_attempts as a
  ),
  outcomes as (
    select
      a.environment_id, a.webhook_id, min(a.attempted_at) as first_attempted_at, max(a.attempted_at) as last_attempted_at,
      max(a.attempted_at) filter (where a.accepted) as accepted_at, max(a.attempted_at) filter (where a.gone) as gone_at,
      (array_agg(coalesce('HTTP ' || a.status_code, a.error) order by a.attempted_at desc))[1] as last_outcome
    from current_attempts as a
    group by a.environment_id, a.webhook_id
  ),
  changed as materialized (
    select
      w.environment_id, w.webhook_id, w.disabled_at is null as enabled,
      case
        when (o.accepted_at >= w.active_since) is not true then
          coalesce(w.failing_since, greatest(w.active_since, o.first_attempted_at))
      end as failing_since,
      case
        when o.gone_at >= w.active_since then 'The endpoint answered 410 Gone.'
        when (o.accepted_at >= w.active_since) is not true and w.failing_since <= now() - interval '5 days' then
          format('No attempt has succeeded since %s; the last one: %s.', svc.iso(w.failing_since), left(o.last_outcome, 500))
      end as reason
    from outcomes as o
    join svc.webhooks as w on w.environment_id = o.environment_id and w.webhook_id = o.webhook_id
    where o.last_attempted_at >= w.active_since
      -- Most change nothing: what succeeds goes on succeeding.
      and (
        o.gone_at >= w.active_since
        or coalesce(o.accepted_at >= w.active_since, false) = (w.failing_since is not null)
        or w.failing_since <= now() - interval '5 days'
      )
    order by w.environment_id, w.webhook_id
    for no key update of w
  ),
  noted as (
    update svc.webhooks as w
    set
      failing_since = c.failing_since,
      disabled_at = case when c.reason is null then w.disabled_at else coalesce(w.disabled_at, now()) end,
      disabled_reason = coalesce(w.disabled_reason, c.reason)
    from changed as c
    where w.environment_id = c.environment_id and w.webhook_id = c.webhook_id
  ),
  disabled as (
    select c.environment_id, c.webhook_id, c.reason from changed as c where c.reason is not null and c.enabled
  ),
  audited as (
    insert into iam.audit_log (organization_id, actor, action, project, environment, target, details)
    select p.organization_id, 'svc', 'webhook.disabled', p.slug, e.name, x.webhook_id, jsonb_build_object('reason', x.reason)
    from disabled as x
    join svc.environments as e on e.environment_id = x.environment_id
    join svc.projects as p on p.project_id = e.project_id
  ),
  concluded as (
    select
      a.*,
      case
        when a.accepted then 'delivered'
        when a.gone or a.delay is null then 'failed'
        else 'pending'
      end as status
    from current_attempts as a
  ),
  updated as (
    update svc.deliveries as d
    set
      status = c.status,
      attempts = c.attempt,
      next_attempt_at = case when c.status = 'pending' then now() + greatest(c.delay, c.retry_after) else d.next_attempt_at end,
      finished_at = case when c.status <> 'pending' then now() end
    from concluded as c
    where d.environment_id = c.environment_id and d.webhook_id = c.webhook_id and d.emission_seq = c.emission_seq
    returning 1
  ),
  counted as (
    insert into svc.trend_changes (environment_id, measure, day, name, value, count)
    select
      c.environment_id, 'delivery', (now() at time zone svc.time_zone_of_environment(c.environment_id))::date, c.webhook_id, c.status,
      count(*)
    from concluded as c
    where c.status <> 'pending'
    group by c.environment_id, c.webhook_id, c.status
  )
  select json_build_object(
    'recorded', (select count(*) from updated),
    'disabled', coalesce((select json_agg(json_build_object('webhookId', x.webhook_id, 'reason', x.reason)) from disabled as x), '[]')
  )
  into _recorded;
  return _recorded;
end;
$$;

comment on function svc_api.record_attempts(jsonb) is
  'Writes down attempts to deliver and decides what follows: delivered, the next attempt, or failed. Repeating a call changes nothing.';
