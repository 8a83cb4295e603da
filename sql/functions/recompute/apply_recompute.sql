-- Writes the results of one customer's replay, with the job's progress, unless the customer's row changed since it was read: answers
-- applied, changed, or gone if the customer was erased (which counts as done, as does one without a revision). customer is {customerId,
-- revision, generation, lifecycle, lifecycleEnteredAt, lastEventAt, evaluatedThrough, nextDueAt, heldUntil, health, state, difference,
-- weight, counts, emissions}, and the rows that svc.write_effects takes, null if there are none; counts is what svc.advance_recompute
-- takes, and instants are ms. svc.flush_recompute_outbox delivers the emissions of many customers together.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one, and the constraints' errors. Locks the customer's row,
-- waiting for a transaction that holds it, then the job's.
create or replace function svc_api.apply_recompute(
  environment_id integer, recompute_id text, attempt integer, version integer, customer json
)
returns text
language plpgsql
volatile
security definer
set search_path = ''
-- By key, whatever the statistics say, as in apply_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
  _id constant integer := apply_recompute.environment_id;
  _c record;
  _former_generation integer;
begin
  select r.* into _c
  from json_to_record(apply_recompute.customer) as r (
    "customerId" text, revision text, generation integer, lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint,
    "evaluatedThrough" bigint, "nextDueAt" bigint, "heldUntil" bigint, health json, state json, transitions json, blocked json,
    journeys json, memberships json, "healthScores" json, "ruleExecutions" json, signals json, emissions json, difference json,
    weight real, counts json
  );

  select k.generation into _former_generation
  from svc.customers as k
  where k.environment_id = _id and k.customer_id = _c."customerId" and k.xmin::text = coalesce(_c.revision, k.xmin::text)
  for update;
  if not found then
    perform from svc.customers as k where k.environment_id = _id and k.customer_id = _c."customerId";
    if found then
      return 'changed';
    end if;
    -- The id of an erased customer is not stored.
    perform svc.advance_recompute(_id, apply_recompute.recompute_id, apply_recompute.attempt, null, 1, null);
    return 'gone';
  end if;

  if _c.revision is not null then
    delete from svc.blocked_transitions as b
    where b.environment_id = _id and b.customer_id = _c."customerId";
    delete from svc.journey_runs as j
    where j.environment_id = _id and j.customer_id = _c."customerId"
      and not exists (
        select 1 from json_to_recordset(_c.journeys) as r (journey text, run integer)
        where r.journey = j.journey_id and r.run = j.run
      );
    delete from svc.segment_memberships as m
    where m.environment_id = _id and m.customer_id = _c."customerId"
      and not exists (
        select 1 from json_to_recordset(_c.memberships) as r (segment text) where r.segment = m.segment_id
      );
    delete from svc.signals as s
    where s.environment_id = _id and s.customer_id = _c."customerId"
      and not exists (
        select 1 from json_to_recordset(_c.signals) as r (signal text) where r.signal = s.signal_id
      );
    perform svc.write_effects(
      _id, apply_recompute.version, _c.transitions, _c.blocked, _c.journeys, _c.memberships, _c."healthScores", _c."ruleExecutions",
      _c.signals
    );

    update svc.customers as k
    set
      lifecycle = _c.lifecycle,
      lifecycle_entered_at = _epoch + _c."lifecycleEnteredAt" * _ms,
      last_event_at = _epoch + _c."lastEventAt" * _ms,
      evaluated_through = _epoch + _c."evaluatedThrough" * _ms,
      held_until = _epoch + _c."heldUntil" * _ms,
      config_version = apply_recompute.version,
      health = _c.health,
      state = _c.state,
      generation = _c.generation,
      -- Future events are still in the inbox.
      next_due_at = least(
        _epoch + _c."nextDueAt" * _ms,
        (
          select min(p.not_before)
          from svc.inbox as p
          where p.environment_id = _id and p.customer_id = _c."customerId" and p.not_before is not null
        )
      )
    where k.environment_id = _id and k.customer_id = _c."customerId";

    perform svc.count_replay(_id, _c."customerId", _former_generation, _c.generation);

    -- For svc_api.sweep_logs.
    insert into svc.superseded_logs (environment_id, customer_id, generation)
    values (_id, _c."customerId", _c.generation)
    on conflict do nothing;

    if _c.difference is not null then
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      values (_id, apply_recompute.recompute_id, _c."customerId", _c.weight, _c.difference);
    end if;
  end if;

  perform svc.advance_recompute(_id, apply_recompute.recompute_id, apply_recompute.attempt, _c."customerId", 1, _c.counts);
  if _c.emissions is not null then
    perform svc.write_recompute_emissions(
      _id, apply_recompute.recompute_id, apply_recompute.version, _c."customerId", _c.emissions
    );
  end if;
  return 'applied';
end;
$$;

comment on function svc_api.apply_recompute(integer, text, integer, integer, json) is
  'Writes the results of one customer''s replay, with the progress of the recompute.';
