-- The answer of svc_api.ingest: {limit, remaining, accepted, firstSeq, seqs, failures, warnings}. seqs are the numbers of the events that
-- answer the operations, in their order, without identify operations; with single = true, one for each single event. A number other than
-- the operation's own, which is firstSeq + position, is that of an earlier event. failures and warnings are keyed by position. The caller
-- makes the ids from the numbers, because that takes it a tenth of the time.
-- Raises nothing, locks nothing.
create or replace function svc.ingest_outcome(
  seqs bigint[], first_seq bigint, identify boolean[], failures jsonb, warnings jsonb, single boolean, rate_limit integer, remaining integer
)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'limit', ingest_outcome.rate_limit,
    'remaining', greatest(0, ingest_outcome.remaining),
    'accepted', cardinality(ingest_outcome.seqs),
    'firstSeq', ingest_outcome.first_seq,
    'seqs', case
      when ingest_outcome.single or true <> all (ingest_outcome.identify) then ingest_outcome.seqs
      else array(
        select o.seq
        from unnest(ingest_outcome.seqs, ingest_outcome.identify) with ordinality as o (seq, identify, n)
        where not o.identify
        order by o.n
      )
    end,
    'failures', ingest_outcome.failures,
    'warnings', coalesce(ingest_outcome.warnings, '{}')
  );
$$;

comment on function svc.ingest_outcome(bigint[], bigint, boolean[], jsonb, jsonb, boolean, integer, integer) is
  'The answer of svc_api.ingest.';
