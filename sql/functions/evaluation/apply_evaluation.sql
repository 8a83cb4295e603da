-- Writes back what the engine made of customers that begin_evaluation locked in this transaction, set-based: state, what was derived,
-- logs, emissions, and the deletion of the inbox rows; one statement a table, none where there is nothing to write (null). Instants are
-- milliseconds. Traits are merged here from the operations as accepted, because a number in them may exceed what the engine's doubles hold.
-- transaction_id is what begin_evaluation answered: where a connection was lost in between, a driver may send this call on another one.
-- Raises SV010 TRANSACTION_LOST there, and the constraints' errors. Locks nothing more than the rows it writes.
create or replace function svc_api.apply_evaluation(
  environment_id integer,
  version integer,
  transaction_id text,
  customers json,
  identifies json,
  transitions json,
  blocked json,
  journeys json,
  memberships json,
  health_scores json,
  rule_executions json,
  signals json,
  emissions json,
  consumed json,
  deferred json
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
-- By key, whatever the statistics say; that is also why rows are looked up laterally with a limit. Statistics lag behind a backfill.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
  _emissions integer;
  _evaluation_seqs bigint[];
begin
  if pg_current_xact_id_if_assigned()::text is distinct from apply_evaluation.transaction_id then
    raise exception using errcode = 'SV010', message = 'TRANSACTION_LOST';
  end if;

  perform svc.leave_inbox(apply_evaluation.environment_id, apply_evaluation.consumed);

  if apply_evaluation.deferred is not null then
    -- The rows are there; so are those of the customers below. It is the unique index that finds them.
    insert into svc.inbox as i (environment_id, customer_id, seq, not_before)
    select h.environment_id, r."customerId", r.seq, _epoch + r."notBefore" * _ms
    from svc.homes as h
    cross join json_to_recordset(apply_evaluation.deferred) as r ("customerId" text, seq bigint, "notBefore" bigint)
    where h.environment_id = apply_evaluation.environment_id
    on conflict (environment_id, customer_id, seq) do update
    set not_before = excluded.not_before
    where i.not_before is distinct from excluded.not_before;
  end if;

  insert into svc.customers as c (
    environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through, held_until,
    config_version, health, state, next_due_at
  )
  with identified as materialized (
    select i."customerId" as customer_id, svc.merge_traits(t.traits order by i.seq) as traits
    from json_to_recordset(apply_evaluation.identifies) as i ("customerId" text, seq bigint)
    cross join lateral (
      select k.traits
      from svc.trait_updates as k
      where k.environment_id = apply_evaluation.environment_id and k.operation_seq = i.seq
      limit 1
    ) as t
    group by i."customerId"
  )
  select
    h.environment_id,
    r."customerId",
    _epoch + r."createdAt" * _ms,
    coalesce(i.traits, '{}'),
    r.lifecycle,
    _epoch + r."lifecycleEnteredAt" * _ms,
    _epoch + r."lastEventAt" * _ms,
    _epoch + r."evaluatedThrough" * _ms,
    _epoch + r."heldUntil" * _ms,
    apply_evaluation.version,
    r.health,
    r.state,
    -- The engine knows the operations ahead that it was given; the others are still in the inbox.
    least(
      _epoch + r."nextDueAt" * _ms,
      (
        select min(p.not_before)
        from svc.inbox as p
        where p.environment_id = apply_evaluation.environment_id and p.customer_id = r."customerId" and p.not_before is not null
      )
    )
  from svc.homes as h
  cross join json_to_recordset(apply_evaluation.customers) as r (
    "customerId" text, "createdAt" bigint, lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint, "evaluatedThrough" bigint,
    "nextDueAt" bigint, "heldUntil" bigint, health json, state json
  )
  left join identified as i on i.customer_id = r."customerId"
  where h.environment_id = apply_evaluation.environment_id
  on conflict (environment_id, customer_id) do update
  set
    traits = case when excluded.traits = '{}' then c.traits else svc.without_nulls(c.traits || excluded.traits) end,
    lifecycle = excluded.lifecycle,
    lifecycle_entered_at = excluded.lifecycle_entered_at,
    last_event_at = excluded.last_event_at,
    evaluated_through = excluded.evaluated_through,
    held_until = excluded.held_until,
    config_version = excluded.config_version,
    health = excluded.health,
    state = excluded.state,
    next_due_at = excluded.next_due_at;

  if apply_evaluation.emissions is not null then
    _emissions := json_array_length(apply_evaluation.emissions);
    -- Positions in an outbox row are 16 bits wide.
    _evaluation_seqs := array(
      select nextval(svc.evaluation_seq(apply_evaluation.environment_id)) from generate_series(0, (_emissions - 1) / 65536)
    );
  end if;

  if coalesce(apply_evaluation.transitions, apply_evaluation.health_scores, apply_evaluation.emissions) is not null then
    perform svc.count_effects(
      apply_evaluation.environment_id, apply_evaluation.transitions, apply_evaluation.health_scores, apply_evaluation.emissions
    );
  end if;
  perform svc.write_effects(
    apply_evaluation.environment_id, apply_evaluation.version, apply_evaluation.transitions, apply_evaluation.blocked,
    apply_evaluation.journeys, apply_evaluation.memberships, apply_evaluation.health_scores, null, apply_evaluation.signals
  );
  -- By themselves, with the numbers of what they emitted.
  if apply_evaluation.rule_executions is not null then
    perform svc.write_rule_executions(
      apply_evaluation.environment_id, apply_evaluation.version, apply_evaluation.rule_executions, _evaluation_seqs
    );
  end if;

  if apply_evaluation.emissions is not null then
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    select
      h.environment_id, _evaluation_seqs[1 + (r.ordinality - 1) / 65536] * 65536 + (r.ordinality - 1) % 65536,
      r."customerId", r.type, r.source, r.metadata, _epoch + r.at * _ms, r."causeType", r."causeId", apply_evaluation.version
    from svc.homes as h
    cross join rows from (json_to_recordset(apply_evaluation.emissions) as (
      "customerId" text, type text, source text, metadata jsonb, at bigint, "causeType" text, "causeId" text
    )) with ordinality as r
    where h.environment_id = apply_evaluation.environment_id;

    insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
    select h.environment_id, s.evaluation_seq, least(65536, _emissions - (s.ordinality - 1) * 65536)
    from svc.homes as h
    cross join unnest(_evaluation_seqs) with ordinality as s (evaluation_seq, ordinality)
    where h.environment_id = apply_evaluation.environment_id;
    perform svc.fan_out(apply_evaluation.environment_id, _evaluation_seqs);
  end if;
end;
$$;

comment on function svc_api.apply_evaluation(
  integer, integer, text, json, json, json, json, json, json, json, json, json, json, json, json
) is
  'Writes back what the engine made of the customers locked by begin_evaluation, all or nothing.';
