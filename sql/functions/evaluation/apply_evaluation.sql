-- Writes back what the engine made of customers that begin_evaluation locked in this transaction, set-based: state, transitions,
-- memberships, emissions, and the deletion of the inbox rows. Instants are milliseconds. Traits are merged here from the operations as
-- accepted, because a number in them may exceed what the engine's doubles hold.
-- Raises the constraints' errors. Locks nothing more than the rows it writes.
create or replace function svc_api.apply_evaluation(
  environment_id integer,
  version integer,
  customers json,
  identifies json,
  transitions json,
  memberships json,
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
  delete from svc.inbox as i
  where i.ctid = any(array(
    select p.ctid
    from json_to_recordset(apply_evaluation.consumed) as r ("customerId" text, seqs bigint[])
    cross join lateral unnest(r.seqs) as s (seq)
    cross join lateral (
      select k.ctid
      from svc.inbox as k
      where k.environment_id = apply_evaluation.environment_id and k.customer_id = r."customerId" and k.seq = s.seq
      limit 1
    ) as p
  ));

  -- The rows are there; so are those of the customers below. It is the unique index that finds them.
  insert into svc.inbox as i (environment_id, customer_id, seq, not_before)
  select apply_evaluation.environment_id, r."customerId", r.seq, _epoch + r."notBefore" * _ms
  from json_to_recordset(apply_evaluation.deferred) as r ("customerId" text, seq bigint, "notBefore" bigint)
  on conflict (environment_id, customer_id, seq) do update
  set not_before = excluded.not_before
  where i.not_before is distinct from excluded.not_before;

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
  insert into svc.customers as c (
    environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through, settle_from,
    config_version, state, next_due_at
  )
  select
    apply_evaluation.environment_id,
    r."customerId",
    _epoch + r."createdAt" * _ms,
    coalesce(i.traits, '{}'),
    r.lifecycle,
    _epoch + r."lifecycleEnteredAt" * _ms,
    _epoch + r."lastEventAt" * _ms,
    _epoch + r."evaluatedThrough" * _ms,
    _epoch + r."settleFrom" * _ms,
    apply_evaluation.version,
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
  from json_to_recordset(apply_evaluation.customers) as r (
    "customerId" text, "createdAt" bigint, lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint, "evaluatedThrough" bigint,
    "nextDueAt" bigint, "settleFrom" bigint, state json
  )
  left join identified as i on i.customer_id = r."customerId"
  on conflict (environment_id, customer_id) do update
  set
    traits = case when excluded.traits = '{}' then c.traits else svc.without_nulls(c.traits || excluded.traits) end,
    lifecycle = excluded.lifecycle,
    lifecycle_entered_at = excluded.lifecycle_entered_at,
    last_event_at = excluded.last_event_at,
    evaluated_through = excluded.evaluated_through,
    settle_from = excluded.settle_from,
    config_version = excluded.config_version,
    state = excluded.state,
    next_due_at = excluded.next_due_at;

  insert into svc.lifecycle_transitions (
    environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, cause_id, config_version
  )
  select
    apply_evaluation.environment_id, r."customerId", r."from", r."to", _epoch + r.at * _ms, r."causeType", r."causeId",
    apply_evaluation.version
  from json_to_recordset(apply_evaluation.transitions) as r (
    "customerId" text, "from" text, "to" text, at bigint, "causeType" text, "causeId" text
  );

  insert into svc.segment_memberships as m (environment_id, segment_id, customer_id, entered_at, exited_at)
  select apply_evaluation.environment_id, r.segment, r."customerId", _epoch + r."enteredAt" * _ms, _epoch + r."exitedAt" * _ms
  from json_to_recordset(apply_evaluation.memberships) as r (
    "customerId" text, segment text, "enteredAt" bigint, "exitedAt" bigint
  )
  on conflict (environment_id, customer_id, segment_id) do update
  set entered_at = excluded.entered_at, exited_at = excluded.exited_at;

  _emissions := json_array_length(apply_evaluation.emissions);
  if _emissions > 0 then
    -- Positions in an outbox row are 16 bits wide.
    _evaluation_seqs := array(select nextval('svc.evaluation_seq') from generate_series(0, (_emissions - 1) / 65536));
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    select
      apply_evaluation.environment_id, _evaluation_seqs[1 + (r.ordinality - 1) / 65536] * 65536 + (r.ordinality - 1) % 65536,
      r."customerId", r.type, r.source, r.metadata, _epoch + r.at * _ms, r."causeType", r."causeId", apply_evaluation.version
    from rows from (json_to_recordset(apply_evaluation.emissions) as (
      "customerId" text, type text, source text, metadata jsonb, at bigint, "causeType" text, "causeId" text
    )) with ordinality as r;

    insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
    select apply_evaluation.environment_id, s.evaluation_seq, least(65536, _emissions - (s.ordinality - 1) * 65536)
    from unnest(_evaluation_seqs) with ordinality as s (evaluation_seq, ordinality);
  end if;
end;
$$;

comment on function svc_api.apply_evaluation(integer, integer, json, json, json, json, json, json, json) is
  'Writes back what the engine made of the customers locked by begin_evaluation, all or nothing.';
