-- What svc_api.ingest answers: {limit, remaining, accepted, firstSeq, seqs, failures, warnings}. seqs are the numbers of the events that
-- answer the operations, in their order, identify operations left out; of single events with single = true, one for each. One that is not
-- the operation's own number, firstSeq + position, is of an earlier event. failures and warnings are by position. Ids are made of the
-- numbers by the caller, who does it in a tenth of the time.
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
