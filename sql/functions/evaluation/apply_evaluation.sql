-- Writes back what the engine made of customers that begin_evaluation locked in this transaction, set-based: state, transitions,
-- memberships, emissions, and the deletion of the inbox rows. Instants are milliseconds. Traits are merged here from the operations as
-- accepted, because a number in them may exceed what the engine's doubles hold.
-- Raises the constraints' errors. Locks nothing more than the rows it writes.
create or replace function svc_api.apply_evaluation(environment_id integer, version integer, result json)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
  _evaluation_seq bigint;
  _emissions integer;
begin
  with identified as (
    select t.customer_id, svc.merge_traits(t.traits order by t.operation_seq) as traits
    from json_to_recordset(apply_evaluation.result -> 'identifies') as i ("customerId" text, seq bigint)
    join svc.trait_updates as t on t.environment_id = apply_evaluation.environment_id and t.operation_seq = i.seq
    group by t.customer_id
  )
  update svc.customers as c
  set
    traits = case when i.traits is null then c.traits else svc.without_nulls(c.traits || i.traits) end,
    lifecycle = r.lifecycle,
    lifecycle_entered_at = _epoch + r."lifecycleEnteredAt" * _ms,
    last_event_at = _epoch + r."lastEventAt" * _ms,
    evaluated_through = _epoch + r."evaluatedThrough" * _ms,
    settle_from = _epoch + r."settleFrom" * _ms,
    config_version = apply_evaluation.version,
    state = r.state,
    next_due_at = least(
      _epoch + r."nextDueAt" * _ms,
      (
        select min(p.not_before)
        from svc.inbox as p
        where p.environment_id = c.environment_id and p.customer_id = c.customer_id and p.not_before is not null
      ),
      _epoch + r."deferredUntil" * _ms
    )
  from json_to_recordset(apply_evaluation.result -> 'customers') as r (
    "customerId" text, lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint, "evaluatedThrough" bigint,
    "nextDueAt" bigint, "deferredUntil" bigint, "settleFrom" bigint, state json
  )
  left join identified as i on i.customer_id = r."customerId"
  where c.environment_id = apply_evaluation.environment_id and c.customer_id = r."customerId";

  insert into svc.lifecycle_transitions (
    environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, cause_id, config_version
  )
  select
    apply_evaluation.environment_id, r."customerId", r."from", r."to", _epoch + r.at * _ms, r."causeType", r."causeId",
    apply_evaluation.version
  from json_to_recordset(apply_evaluation.result -> 'transitions') as r (
    "customerId" text, "from" text, "to" text, at bigint, "causeType" text, "causeId" text
  );

  insert into svc.segment_memberships as m (environment_id, segment_id, customer_id, entered_at, exited_at)
  select apply_evaluation.environment_id, r.segment, r."customerId", _epoch + r."enteredAt" * _ms, _epoch + r."exitedAt" * _ms
  from json_to_recordset(apply_evaluation.result -> 'memberships') as r (
    "customerId" text, segment text, "enteredAt" bigint, "exitedAt" bigint
  )
  on conflict (environment_id, customer_id, segment_id) do update
  set entered_at = excluded.entered_at, exited_at = excluded.exited_at;

  _emissions := json_array_length(apply_evaluation.result -> 'emissions');
  if _emissions > 0 then
    _evaluation_seq := nextval('svc.evaluation_seq');
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    select
      apply_evaluation.environment_id, _evaluation_seq * 65536 + r.ordinality - 1, r."customerId", r.type, r.source, r.metadata,
      _epoch + r.at * _ms, r."causeType", r."causeId", apply_evaluation.version
    from rows from (json_to_recordset(apply_evaluation.result -> 'emissions') as (
      "customerId" text, type text, source text, metadata jsonb, at bigint, "causeType" text, "causeId" text
    )) with ordinality as r;

    insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
    values (apply_evaluation.environment_id, _evaluation_seq, _emissions);
  end if;

  delete from svc.inbox as i
  using json_to_recordset(apply_evaluation.result -> 'consumed') as r ("customerId" text, seqs bigint[])
  cross join lateral unnest(r.seqs) as s (seq)
  where i.environment_id = apply_evaluation.environment_id and i.customer_id = r."customerId" and i.seq = s.seq;

  update svc.inbox as i
  set not_before = _epoch + r."notBefore" * _ms
  from json_to_recordset(apply_evaluation.result -> 'deferred') as r ("customerId" text, seq bigint, "notBefore" bigint)
  where i.environment_id = apply_evaluation.environment_id and i.customer_id = r."customerId" and i.seq = r.seq;
end;
$$;

comment on function svc_api.apply_evaluation(integer, integer, json) is
  'Writes back what the engine made of the customers locked by begin_evaluation, all or nothing.';
