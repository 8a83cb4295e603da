-- What svc_api.apply_replay takes, of many customers at once: most have nothing to change, and a statement for each customer and table
-- costs more than a look-up. customers is [{customerId, revision, generation, lifecycle, lifecycleEnteredAt, lastEventAt, evaluatedThrough,
-- nextDueAt, heldUntil, health, state, difference, weight, counts, emissions}] in ms, each with the lists that svc.write_effects takes;
-- states has the states instead, one per line, which are parsed once there. Lists that are stored as they are come back null if no other
-- rows are stored (has_stale_rows), and changes, for svc.count_changes, is what the replay adds to the log less the former generation.
-- Raises nothing, locks nothing; holds for as long as the customer's row has the revision.
create or replace function svc_api.compare_replays(environment_id integer, customers json, states text)
returns table (
  customer_id text, revision text, generation integer, lifecycle text, lifecycle_entered_at bigint, last_event_at bigint,
  evaluated_through bigint, next_due_at bigint, held_until bigint, health json, state json, difference json, weight real, counts json,
  emissions json, transitions json, blocked json, journeys json, memberships json, health_scores json, rule_executions json,
  signals json, has_stale_rows boolean, changes json
)
language plpgsql
stable
security definer
set search_path = ''
-- By key, whatever the statistics say, as in apply_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
  _id constant integer := compare_replays.environment_id;
begin
  return query
  select
    c."customerId", c.revision, c.generation, c.lifecycle, c."lifecycleEnteredAt", c."lastEventAt", c."evaluatedThrough",
    c."nextDueAt", c."heldUntil", c.health, coalesce(c.line::json, c.state), c.difference, c.weight, c.counts, c.emissions, c.transitions,
    case
      when d.has_stale_rows or exists (
        select 1
        from json_to_recordset(c.blocked) as r ("from" text, "to" text, at bigint)
        where not exists (
          select 1
          from svc.blocked_transitions as b
          where b.environment_id = _id and b.customer_id = c."customerId" and b.from_state = r."from" and b.to_state = r."to"
            and b.blocked_at = _epoch + r.at * _ms
        )
      ) then c.blocked
    end,
    case
      when d.has_stale_rows or exists (
        select 1
        from json_to_recordset(c.journeys) as r (
          journey text, run integer, status text, "currentStep" text, steps json, "startedAt" bigint, "completedAt" bigint,
          "expiredAt" bigint
        )
        where not exists (
          select 1
          from svc.journey_runs as j
          where j.environment_id = _id and j.customer_id = c."customerId" and j.journey_id = r.journey and j.run = r.run
            and j.status = r.status and j.steps::text = r.steps::text
            and (j.current_step, j.started_at, j.completed_at, j.expired_at) is not distinct from (
              r."currentStep", _epoch + r."startedAt" * _ms, _epoch + r."completedAt" * _ms, _epoch + r."expiredAt" * _ms
            )
        )
      ) then c.journeys
    end,
    case
      when d.has_stale_rows or exists (
        select 1
        from json_to_recordset(c.memberships) as r (segment text, "enteredAt" bigint, "exitedAt" bigint)
        where not exists (
          select 1
          from svc.segment_memberships as m
          where m.environment_id = _id and m.customer_id = c."customerId" and m.segment_id = r.segment
            and m.entered_at = _epoch + r."enteredAt" * _ms and m.exited_at is not distinct from _epoch + r."exitedAt" * _ms
        )
      ) then c.memberships
    end,
    c."healthScores", c."ruleExecutions",
    case
      when d.has_stale_rows or exists (
        select 1
        from json_to_recordset(c.signals) as r (
          signal text, severity text, message text, "raisedAt" bigint, "clearedAt" bigint
        )
        where not exists (
          select 1
          from svc.signals as s
          where s.environment_id = _id and s.customer_id = c."customerId" and s.signal_id = r.signal
            and (s.severity, s.message, s.raised_at, s.cleared_at) is not distinct from (
              r.severity, r.message, _epoch + r."raisedAt" * _ms, _epoch + r."clearedAt" * _ms
            )
        )
      ) then c.signals
    end,
    d.has_stale_rows, l.changes
  from svc.homes as h
  cross join rows from (
    json_to_recordset(compare_replays.customers) as (
      "customerId" text, revision text, generation integer, lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint,
      "evaluatedThrough" bigint, "nextDueAt" bigint, "heldUntil" bigint, health json, state json, transitions json, blocked json,
      journeys json, memberships json, "healthScores" json, "ruleExecutions" json, signals json, emissions json, difference json,
      weight real, counts json
    ),
    string_to_table(compare_replays.states, E'\n')
  ) with ordinality as c (
    "customerId", revision, generation, lifecycle, "lifecycleEnteredAt", "lastEventAt", "evaluatedThrough", "nextDueAt", "heldUntil",
    health, state, transitions, blocked, journeys, memberships, "healthScores", "ruleExecutions", signals, emissions, difference, weight,
    counts, line, ordinality
  )
  cross join lateral (
    select
      exists (
        select 1
        from svc.blocked_transitions as b
        where b.environment_id = _id and b.customer_id = c."customerId"
          and not exists (
            select 1 from json_to_recordset(c.blocked) as r ("from" text, "to" text)
            where r."from" = b.from_state and r."to" = b.to_state
          )
      )
      or exists (
        select 1
        from svc.journey_runs as j
        where j.environment_id = _id and j.customer_id = c."customerId"
          and not exists (
            select 1 from json_to_recordset(c.journeys) as r (journey text, run integer)
            where r.journey = j.journey_id and r.run = j.run
          )
      )
      or exists (
        select 1
        from svc.segment_memberships as m
        where m.environment_id = _id and m.customer_id = c."customerId"
          and not exists (
            select 1 from json_to_recordset(c.memberships) as r (segment text) where r.segment = m.segment_id
          )
      )
      or exists (
        select 1
        from svc.signals as s
        where s.environment_id = _id and s.customer_id = c."customerId"
          and not exists (
            select 1 from json_to_recordset(c.signals) as r (signal text) where r.signal = s.signal_id
          )
      ) as has_stale_rows
    offset 0
  ) as d
  cross join lateral (
    select
      json_agg(json_build_object(
        'measure', g.measure, 'at', g.at, 'name', g.name, 'value', g.value, 'count', g.count, 'amount', g.amount
      )) as changes
    from (
      select r.measure, r.at, r.name, r.value, sum(r.count) as count, sum(r.amount) as amount
      from (
        -- A long history has written rows of the new generation before.
        select
          k.measure, svc.epoch_ms(k.changed_at) as at, k.name, k.value,
          case when k.generation = c.generation then k.count else -k.count end as count,
          case when k.generation = c.generation then k.amount else -k.amount end as amount
        from svc.logged_changes as k
        where k.environment_id = _id and k.customer_id = c."customerId" and k.generation in (c.generation - 1, c.generation)
        union all
        select 'lifecycle', t.at, coalesce(t."from", ''), t."to", 1, 0
        from json_to_recordset(c.transitions) as t ("from" text, "to" text, at bigint)
        union all
        select m.measure, s.at, m.name, m.value, 1, s.overall
        from json_to_recordset(c."healthScores") as s (overall numeric, band text, at bigint)
        cross join lateral (values ('health', s.band, ''), ('score', '', round(s.overall)::text)) as m (measure, name, value)
        where s.overall is not null
        union all
        select e.source, e.at, e.metadata ->> e.source, split_part(e.type, '.', 2), 1, 0
        from json_to_recordset(c.emissions) as e (type text, source text, metadata json, at bigint)
        where e.source in ('segment', 'signal') and e.metadata ->> e.source is not null
      ) as r
      group by r.measure, r.at, r.name, r.value
      having sum(r.count) <> 0 or sum(r.amount) <> 0
    ) as g
  ) as l
  where h.environment_id = _id
  order by c.ordinality;
end;
$$;

comment on function svc_api.compare_replays(integer, json, text) is
  'The results of customers'' replays, compared with what is stored.';
