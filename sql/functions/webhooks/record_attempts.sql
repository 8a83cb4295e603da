-- Writes down attempts to deliver, set-based, and what follows of each: 2xx is delivered; 410 is failed and disables the webhook; anything
-- else is due again by svc.delivery_delay with 10 % jitter, or after retryAfterSeconds (24 hours at most) where that is later, or failed
-- where that was the last attempt. `results` is an array of {environmentId, webhookId, emissionSeq, attempt, attemptedAt, latencyMs,
-- statusCode, error, response, retryAfterSeconds}. Answers how many it wrote down: an attempt of which a record exists, and one of a
-- delivery that is finished or gone, changes nothing, so that a call whose answer was lost can be repeated.
-- Raises nothing of its own. Locks the deliveries in key order, then the webhooks it disables.
create or replace function svc_api.record_attempts(results jsonb)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _recorded integer;
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
      svc.delivery_delay(a.attempt + 1) * (0.9 + 0.2 * random()) as delay
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
  disabled as (
    update svc.webhooks as w
    set disabled_at = now(), disabled_reason = 'The endpoint answered 410 Gone.'
    where w.disabled_at is null
      and exists (
        select 1
        from current_attempts as a
        where a.gone and a.environment_id = w.environment_id and a.webhook_id = w.webhook_id
      )
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
      claimed_until = null,
      claimed_by = null,
      finished_at = case when c.status <> 'pending' then now() end
    from concluded as c
    where d.environment_id = c.environment_id and d.webhook_id = c.webhook_id and d.emission_seq = c.emission_seq
    returning 1
  )
  select count(*) into _recorded
  from updated;
  return _recorded;
end;
$$;

comment on function svc_api.record_attempts(jsonb) is
  'Writes down attempts to deliver and decides what follows: delivered, the next attempt, or failed. Repeating a call changes nothing.';
