-- What svc_api.ingest answers. A batch: {limit, remaining, accepted, eventIds, warnings}. Single events: {limit, remaining, outcomes,
-- warnings}, an outcome being [event id, whether it is a repetition] or the failure. json, built as text, because it is only passed on.
-- Raises nothing, locks nothing.
create or replace function svc.ingest_outcome(
  seqs bigint[], first_seq bigint, identify boolean[], failures jsonb, warnings jsonb, single boolean, rate_limit integer, remaining integer
)
returns json
language sql
stable
set search_path = ''
as $$
  select format(
    '{"limit":%s,"remaining":%s,"warnings":%s,"accepted":%s,%s}',
    ingest_outcome.rate_limit,
    greatest(0, ingest_outcome.remaining),
    coalesce(ingest_outcome.warnings::text, '{}'),
    cardinality(ingest_outcome.seqs),
    case
      when ingest_outcome.single then (
        select format('"outcomes":[%s]', string_agg(
          case
            when ingest_outcome.failures ? (o.n - 1)::text then (ingest_outcome.failures -> (o.n - 1)::text)::text
            else format('["%s",%s]', svc.event_id(o.seq), to_json(o.seq <> ingest_outcome.first_seq + o.n - 1))
          end,
          ',' order by o.n
        ))
        from unnest(ingest_outcome.seqs) with ordinality as o (seq, n)
      )
      else (
        select format('"eventIds":[%s]', string_agg('"evt_' || lpad(to_hex(o.seq), 16, '0') || '"', ',' order by o.n))
        from unnest(ingest_outcome.seqs, ingest_outcome.identify) with ordinality as o (seq, identify, n)
        where not o.identify
      )
    end
  )::json;
$$;

comment on function svc.ingest_outcome(bigint[], bigint, boolean[], jsonb, jsonb, boolean, integer, integer) is
  'The answer of svc_api.ingest.';
