-- The next events of one customer for a replay, as svc_api.read_recompute_chunk lists them, with the place where they end: {seqs, at (ms),
-- names, properties, lastAt (to the microsecond, as text), lastSeq}; the lists are null where there are none.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_recompute_events(
  environment_id integer, customer_id text, after_at text, after_seq bigint, property_events text[], row_limit integer
)
returns json
language sql
stable
security definer
set search_path = ''
-- By key, whatever the statistics say, as in begin_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select json_build_object(
    'seqs', array_agg(p.event_seq),
    'at', array_agg(floor(extract(epoch from p.occurred_at) * 1000)::bigint),
    'names', array_agg(p.event),
    'properties', json_agg(p.properties),
    'lastAt', (array_agg(p.occurred_at))[count(*)]::text,
    'lastSeq', (array_agg(p.event_seq))[count(*)]
  )
  from svc.replayed_events(
    read_recompute_events.environment_id, read_recompute_events.customer_id, read_recompute_events.after_at::timestamptz,
    read_recompute_events.after_seq, read_recompute_events.property_events, read_recompute_events.row_limit
  ) as p;
$$;

comment on function svc_api.read_recompute_events(integer, text, text, bigint, text[], integer) is
  'The next events of one customer for a replay.';
