-- Writes the results of evaluating customers, except state and emissions: one statement per table, none if there is nothing to
-- write (null). Instants are milliseconds. Unchanged rows are not written again: a recompute mostly finds what live evaluation found.
-- Raises the constraints' errors. Locks nothing more than the rows it writes; the caller has locked the customers.
create or replace function svc.write_effects(
  environment_id integer,
  version integer,
  transitions json,
  blocked json,
  journeys json,
  memberships json,
  health_scores json,
  rule_executions json,
  signals json
)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in apply_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
begin
  if write_effects.transitions is not null then
    insert into svc.lifecycle_transitions (
      environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, cause_id, config_version,
      generation
    )
    select
      h.environment_id, r."customerId", r."from", r."to", _epoch + r.at * _ms, r."causeType", r."causeId",
      write_effects.version, r.generation
    from svc.homes as h
    cross join json_to_recordset(write_effects.transitions) as r (
      "customerId" text, "from" text, "to" text, at bigint, "causeType" text, "causeId" text, generation integer
    )
    where h.environment_id = write_effects.environment_id;
  end if;

  if write_effects.blocked is not null then
    insert into svc.blocked_transitions as b (environment_id, customer_id, from_state, to_state, blocked_at)
    select h.environment_id, r."customerId", r."from", r."to", _epoch + r.at * _ms
    from svc.homes as h
    cross join json_to_recordset(write_effects.blocked) as r ("customerId" text, "from" text, "to" text, at bigint)
    where h.environment_id = write_effects.environment_id
    on conflict (environment_id, customer_id, from_state, to_state) do update
    set blocked_at = excluded.blocked_at;
  end if;

  if write_effects.journeys is not null then
    insert into svc.journey_runs as j (
      environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at, expired_at
    )
    select
      h.environment_id, r."customerId", r.journey, r.run, r.status, r."currentStep", r.steps,
      _epoch + r."startedAt" * _ms, _epoch + r."completedAt" * _ms, _epoch + r."expiredAt" * _ms
    from svc.homes as h
    cross join json_to_recordset(write_effects.journeys) as r (
      "customerId" text, journey text, run integer, status text, "currentStep" text, steps json,
      "startedAt" bigint, "completedAt" bigint, "expiredAt" bigint
    )
    where h.environment_id = write_effects.environment_id
    on conflict (environment_id, customer_id, journey_id, run) do update
    set
      status = excluded.status,
      current_step = excluded.current_step,
      steps = excluded.steps,
      started_at = excluded.started_at,
      completed_at = excluded.completed_at,
      expired_at = excluded.expired_at
    where (j.status, j.current_step, j.steps::text, j.started_at, j.completed_at, j.expired_at)
      is distinct from
      (excluded.status, excluded.current_step, excluded.steps::text, excluded.started_at, excluded.completed_at, excluded.expired_at);
  end if;

  if write_effects.memberships is not null then
    insert into svc.segment_memberships as m (environment_id, segment_id, customer_id, entered_at, exited_at)
    select h.environment_id, r.segment, r."customerId", _epoch + r."enteredAt" * _ms, _epoch + r."exitedAt" * _ms
    from svc.homes as h
    cross join json_to_recordset(write_effects.memberships) as r (
      "customerId" text, segment text, "enteredAt" bigint, "exitedAt" bigint
    )
    where h.environment_id = write_effects.environment_id
    on conflict (environment_id, customer_id, segment_id) do update
    set entered_at = excluded.entered_at, exited_at = excluded.exited_at
    where (m.entered_at, m.exited_at) is distinct from (excluded.entered_at, excluded.exited_at);
  end if;

  if write_effects.health_scores is not null then
    insert into svc.health_scores (
      environment_id, customer_id, overall, components, band, scored_at, cause_type, cause_id, config_version, generation
    )
    select
      h.environment_id, r."customerId", r.overall, r.components, r.band, _epoch + r.at * _ms, r."causeType",
      r."causeId", write_effects.version, r.generation
    from svc.homes as h
    cross join json_to_recordset(write_effects.health_scores) as r (
      "customerId" text, overall numeric, components json, band text, at bigint, "causeType" text, "causeId" text, generation integer
    )
    where h.environment_id = write_effects.environment_id;
  end if;

  if write_effects.rule_executions is not null then
    perform svc.write_rule_executions(
      write_effects.environment_id, write_effects.version, write_effects.rule_executions, null
    );
  end if;

  if write_effects.signals is not null then
    insert into svc.signals as s (environment_id, customer_id, signal_id, severity, message, raised_at, cleared_at)
    select
      h.environment_id, r."customerId", r.signal, r.severity, r.message, _epoch + r."raisedAt" * _ms,
      _epoch + r."clearedAt" * _ms
    from svc.homes as h
    cross join json_to_recordset(write_effects.signals) as r (
      "customerId" text, signal text, severity text, message text, "raisedAt" bigint, "clearedAt" bigint
    )
    where h.environment_id = write_effects.environment_id
    on conflict (environment_id, customer_id, signal_id) do update
    set
      severity = excluded.severity,
      message = excluded.message,
      raised_at = excluded.raised_at,
      cleared_at = excluded.cleared_at
    where (s.severity, s.message, s.raised_at, s.cleared_at)
      is distinct from (excluded.severity, excluded.message, excluded.raised_at, excluded.cleared_at);
  end if;
end;
$$;

comment on function svc.write_effects(integer, integer, json, json, json, json, json, json, json) is
  'Writes the results of evaluating customers, except state and emissions.';
