-- Writes the results of one customer's replay, with the job's progress, unless the customer's row changed since it was read: answers
-- applied, changed, or gone if the customer was erased (which counts as done, as does one without a revision). The other arguments are a
-- row of svc_api.compare_replays. svc.flush_recompute_outbox delivers the emissions of many customers together.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one, and the constraints' errors. Locks the customer's row,
-- waiting for a transaction that holds it, then the job's.
create or replace function svc_api.apply_replay(
  environment_id integer, recompute_id text, attempt integer, version integer, customer_id text, revision text, generation integer,
  lifecycle text, lifecycle_entered_at bigint, last_event_at bigint, evaluated_through bigint, next_due_at bigint, held_until bigint,
  health json, state json, difference json, weight real, counts json, emissions json, transitions json, blocked json, journeys json,
  memberships json, health_scores json, rule_executions json, signals json, has_stale_rows boolean, changes json
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
  _id constant integer := apply_replay.environment_id;
  _customer_id constant text := apply_replay.customer_id;
  _amount constant integer := coalesce(json_array_length(apply_replay.emissions), 0);
  -- Positions in an outbox row are 16 bits wide.
  _size constant integer := 65536;
  _seq bigint;
begin
  if apply_replay.revision is null then
    perform from svc.customers as k where k.environment_id = _id and k.customer_id = _customer_id for update;
  else
    -- Nothing else is done to a customer whose row is not the one that was read.
    update svc.customers as k
    set
      lifecycle = apply_replay.lifecycle,
      lifecycle_entered_at = _epoch + apply_replay.lifecycle_entered_at * _ms,
      last_event_at = _epoch + apply_replay.last_event_at * _ms,
      evaluated_through = _epoch + apply_replay.evaluated_through * _ms,
      held_until = _epoch + apply_replay.held_until * _ms,
      config_version = apply_replay.version,
      health = apply_replay.health,
      state = apply_replay.state,
      generation = apply_replay.generation,
      -- Future events are still in the inbox, beside what waits until the customer is released.
      next_due_at = least(
        _epoch + apply_replay.next_due_at * _ms,
        (
          select nullif(min(p.not_before), 'infinity')
          from svc.inbox as p
          where p.environment_id = _id and p.customer_id = _customer_id and p.not_before is not null
        )
      )
    where k.environment_id = _id and k.customer_id = _customer_id and k.xmin::text = apply_replay.revision;
  end if;
  if not found then
    perform from svc.customers as k where k.environment_id = _id and k.customer_id = _customer_id;
    if found then
      return 'changed';
    end if;
    -- The id of an erased customer is not stored.
    perform svc.record_progress(_id, apply_replay.recompute_id, apply_replay.attempt, null, 1, null, 0);
    return 'gone';
  end if;

  if apply_replay.revision is not null then
    if apply_replay.has_stale_rows then
      delete from svc.blocked_transitions as b
      where b.environment_id = _id and b.customer_id = _customer_id
        and not exists (
          select 1 from json_to_recordset(apply_replay.blocked) as r ("from" text, "to" text)
          where r."from" = b.from_state and r."to" = b.to_state
        );
      delete from svc.journey_runs as j
      where j.environment_id = _id and j.customer_id = _customer_id
        and not exists (
          select 1 from json_to_recordset(apply_replay.journeys) as r (journey text, run integer)
          where r.journey = j.journey_id and r.run = j.run
        );
      delete from svc.segment_memberships as m
      where m.environment_id = _id and m.customer_id = _customer_id
        and not exists (
          select 1 from json_to_recordset(apply_replay.memberships) as r (segment text) where r.segment = m.segment_id
        );
      delete from svc.signals as s
      where s.environment_id = _id and s.customer_id = _customer_id
        and not exists (
          select 1 from json_to_recordset(apply_replay.signals) as r (signal text) where r.signal = s.signal_id
        );
    end if;
    perform svc.write_effects(
      _id, apply_replay.version, apply_replay.transitions, apply_replay.blocked, apply_replay.journeys, apply_replay.memberships,
      apply_replay.health_scores, apply_replay.rule_executions, apply_replay.signals
    );
    if apply_replay.changes is not null then
      perform svc.count_changes(_id, apply_replay.changes);
    end if;
    -- For svc_api.sweep_logs.
    insert into svc.superseded_logs (environment_id, customer_id, generation)
    values (_id, _customer_id, apply_replay.generation)
    on conflict do nothing;
    if apply_replay.difference is not null then
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      values (_id, apply_replay.recompute_id, _customer_id, apply_replay.weight, apply_replay.difference);
    end if;
  end if;

  if _amount > 0 then
    -- Of two emissions of a customer the later one has the greater number, so its outbox row must have been begun after its last emission.
    perform
    from svc.recomputes as r
    cross join lateral (
      select
      from svc.emissions as e
      where e.environment_id = _id and e.customer_id = _customer_id and e.emission_seq >= (r.outbox_seq + 1) * _size
      limit 1
    ) as later
    where r.environment_id = _id and r.recompute_id = apply_replay.recompute_id;
    if found then
      perform svc.flush_recompute_outbox(_id, apply_replay.recompute_id);
    end if;
  end if;

  _seq := svc.record_progress(
    _id, apply_replay.recompute_id, apply_replay.attempt, _customer_id, 1, apply_replay.counts, least(_amount, _size)
  );
  for _from in 0 .. _amount - 1 by _size loop
    if _from > 0 then
      _seq := svc.record_progress(
        _id, apply_replay.recompute_id, apply_replay.attempt, null, 0, null, least(_amount - _from, _size)
      );
    end if;
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    select
      h.environment_id, _seq + r.ordinality - 1 - _from, _customer_id, r.type, r.source, r.metadata, _epoch + r.at * _ms, 'job',
      apply_replay.recompute_id, apply_replay.version
    from svc.homes as h
    cross join rows from (
      json_to_recordset(apply_replay.emissions) as (type text, source text, metadata jsonb, at bigint)
    ) with ordinality as r
    where h.environment_id = _id and r.ordinality > _from and r.ordinality <= _from + _size;
  end loop;
  return 'applied';
end;
$$;

comment on function svc_api.apply_replay(
  integer, text, integer, integer, text, text, integer, text, bigint, bigint, bigint, bigint, bigint, json, json, json, real, json, json,
  json, json, json, json, json, json, json, boolean, json
) is 'Writes the results of one customer''s replay, with the progress of the recompute.';
