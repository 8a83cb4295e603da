-- Writes the engine's results for customers that begin_chunk locked in this transaction, set-based: state, derived parts, logs, emissions,
-- the changes that trends count, and the deletion of the inbox rows; one statement per table, none if there is nothing to write (null).
-- Instants are milliseconds. states has the customers' states as JSON, in the customers' order, one per line.
-- transaction_id is what begin_chunk answered: if a connection was lost in between, a driver can send this call on another one.
-- Raises SV010 TRANSACTION_LOST in that case, and the constraints' errors. Locks nothing more than the rows it writes.
create or replace function svc_api.apply_evaluation(
  environment_id integer,
  version integer,
  transaction_id text,
  customers json,
  states text,
  transitions json,
  blocked json,
  journeys json,
  memberships json,
  health_scores json,
  rule_executions json,
  signals json,
  emissions json,
  changes json,
  consumed json,
  deferred json
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say: they lag behind a backfill. That is also why rows are looked up laterally with a
-- limit.
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
    -- The rows exist; the insert serves to find them by the unique index.
    insert into svc.inbox as i (environment_id, customer_id, seq, not_before)
    select h.environment_id, r."customerId", r.seq, _epoch + r."notBefore" * _ms
    from svc.homes as h
    cross join json_to_recordset(apply_evaluation.deferred) as r ("customerId" text, seq bigint, "notBefore" bigint)
    where h.environment_id = apply_evaluation.environment_id
    on conflict (environment_id, customer_id, seq) do update
    set not_before = excluded.not_before
    where i.not_before is distinct from excluded.not_before;
  end if;

  perform svc.write_customers(
    apply_evaluation.environment_id, apply_evaluation.version, apply_evaluation.customers, apply_evaluation.states
  );

  if apply_evaluation.emissions is not null then
    _emissions := json_array_length(apply_evaluation.emissions);
    -- Positions in an outbox row are 16 bits wide.
    _evaluation_seqs := array(
      select nextval(svc.evaluation_seq(apply_evaluation.environment_id)) from generate_series(0, (_emissions - 1) / 65536)
    );
  end if;

  if apply_evaluation.changes is not null then
    perform svc.count_changes(apply_evaluation.environment_id, apply_evaluation.changes);
  end if;
  perform svc.write_effects(
    apply_evaluation.environment_id, apply_evaluation.version, apply_evaluation.transitions, apply_evaluation.blocked,
    apply_evaluation.journeys, apply_evaluation.memberships, apply_evaluation.health_scores, null, apply_evaluation.signals
  );
  -- Written separately, because they need the numbers of their emissions.
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
  integer, integer, text, json, text, json, json, json, json, json, json, json, json, json, json, json
) is
  'Writes the engine''s results for the customers locked by begin_chunk, all or nothing.';
