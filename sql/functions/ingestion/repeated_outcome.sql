-- The outcome of a call that was accepted before, whose answer was lost: derived from its number, its keys and the same payload.
-- A single event that had been refused for another reason than its key is answered as temporarily unavailable, so that it is sent again.
-- Raises nothing, locks nothing.
create or replace function svc.repeated_outcome(
  environment_id integer, batch_seq bigint, operations jsonb, single boolean, rate_limit integer, remaining integer
)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.ingest_outcome(
    array_agg(coalesce(k.event_seq, o.seq) order by o.seq),
    repeated_outcome.batch_seq * 1024,
    array_agg(o.identify order by o.seq),
    coalesce(
      jsonb_object_agg(
        o.ordinal,
        case
          when k.event_seq is null then '{"sqlstate": "SV010", "code": "SERVICE_UNAVAILABLE"}'
          else svc.conflict_failure(o.idempotency_key, o.ordinal, repeated_outcome.single)
        end
      ) filter (where not o.identify and e.event_seq is null and (k.event_seq is null or k.payload_hash <> o.payload_hash)),
      '{}'
    ),
    null,
    repeated_outcome.single,
    repeated_outcome.rate_limit,
    repeated_outcome.remaining
  )
  from (
    select
      n - 1 as ordinal,
      repeated_outcome.batch_seq * 1024 + n - 1 as seq,
      r.type is not distinct from 'identify' as identify,
      r."idempotencyKey" as idempotency_key,
      svc.payload_hash(r."customerId", r.event, coalesce(r.properties, '{}'), r."timestamp") as payload_hash
    from rows from (jsonb_to_recordset(repeated_outcome.operations) as (
      type text, "customerId" text, event text, properties jsonb, "timestamp" timestamptz, "idempotencyKey" text
    )) with ordinality as r (type, "customerId", event, properties, "timestamp", "idempotencyKey", n)
  ) as o
  left join svc.idempotency_keys as k
    on k.environment_id = repeated_outcome.environment_id and k.idempotency_key = o.idempotency_key
  left join svc.events as e
    on e.environment_id = repeated_outcome.environment_id and e.event_seq = o.seq;
$$;

comment on function svc.repeated_outcome(integer, bigint, jsonb, boolean, integer, integer) is 'Outcome of a call that was accepted before.';
