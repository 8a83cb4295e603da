-- The outcome of a call that was accepted before but whose answer was lost: derived from its number, its keys and the same payload.
-- Refused single events get their reason again: a conflict, the schema (version is the strict one, null if there is none), else
-- the rate limit, after which the event can be sent again.
-- Raises nothing, locks nothing.
create or replace function svc.repeated_outcome(
  environment_id integer, batch_seq bigint, operations jsonb, single boolean, project_id integer, version integer,
  rate_per_second integer, rate_burst integer, remaining integer
)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _seqs bigint[];
  _identify boolean[];
  -- For the refused ones: their positions, and the key if it belongs to another event.
  _refused bigint[];
  _taken text[];
  _violations jsonb;
  _failures jsonb;
begin
  with operation as (
    select
      n - 1 as ordinal,
      repeated_outcome.batch_seq * 1024 + n - 1 as seq,
      r.type is not distinct from 'identify' as identify,
      r."idempotencyKey" as idempotency_key,
      svc.payload_hash(r."customerId", coalesce(r.event, ''), coalesce(r.properties, '{}'), r."timestamp") as payload_hash
    from rows from (jsonb_to_recordset(repeated_outcome.operations) as (
      type text, "customerId" text, event text, properties jsonb, "timestamp" timestamptz, "idempotencyKey" text
    )) with ordinality as r (type, "customerId", event, properties, "timestamp", "idempotencyKey", n)
  ),
  found as (
    select
      o.ordinal, o.seq, o.identify, o.idempotency_key, k.event_seq,
      not o.identify and e.event_seq is null and q.seq is null and k.payload_hash is distinct from o.payload_hash as refused
    from operation as o
    left join svc.idempotency_keys as k
      on k.environment_id = repeated_outcome.environment_id and k.idempotency_key = o.idempotency_key
    left join svc.events as e
      on e.environment_id = repeated_outcome.environment_id and e.event_seq = o.seq
    left join svc.quarantined_operations as q
      on q.environment_id = repeated_outcome.environment_id and q.seq = o.seq
  )
  select
    array_agg(coalesce(f.event_seq, f.seq) order by f.seq), array_agg(f.identify order by f.seq),
    array_agg(f.ordinal order by f.seq) filter (where f.refused),
    array_agg(case when f.event_seq is not null then f.idempotency_key end order by f.seq) filter (where f.refused)
  into _seqs, _identify, _refused, _taken
  from found as f;

  if repeated_outcome.version is not null then
    _violations := svc.call_schema_failures(
      repeated_outcome.project_id, repeated_outcome.version, repeated_outcome.operations,
      array(select r.ordinal from unnest(_refused, _taken) as r (ordinal, taken) where r.taken is null), repeated_outcome.single
    );
  end if;
  select jsonb_object_agg(
    r.ordinal,
    case
      when r.taken is not null then svc.conflict_failure(r.taken, r.ordinal, repeated_outcome.single)
      else coalesce(
        _violations -> r.ordinal::text, svc.rate_failure(1, 0, repeated_outcome.rate_per_second, repeated_outcome.rate_burst)
      )
    end
  )
  into _failures
  from unnest(_refused, _taken) as r (ordinal, taken);

  return svc.with_members(
    svc.ingest_outcome(
      _seqs, repeated_outcome.batch_seq * 1024, _identify, coalesce(_failures, '{}'), null, repeated_outcome.single,
      repeated_outcome.rate_burst, repeated_outcome.remaining
    ),
    svc.quarantined_among(repeated_outcome.environment_id, _seqs)
  );
end;
$$;

comment on function svc.repeated_outcome(integer, bigint, jsonb, boolean, integer, integer, integer, integer, integer) is
  'Outcome of a call that was accepted before.';
