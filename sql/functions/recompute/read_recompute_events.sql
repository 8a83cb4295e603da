-- The next page of one customer's events for a replay, by svc.replayed_page: {events, more, lastAt (to the microsecond, in ISO 8601
-- whatever the session's DateStyle), lastSeq}.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_recompute_events(
  environment_id integer, customer_id text, after_at text, after_seq bigint, property_events text[], row_limit integer,
  byte_limit bigint
)
returns json
language sql
stable
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select json_build_object('events', p.events, 'more', p.more, 'lastAt', p.last_at, 'lastSeq', p.last_seq)
  from svc.replayed_page(
    read_recompute_events.environment_id, read_recompute_events.customer_id, read_recompute_events.after_at::timestamptz,
    read_recompute_events.after_seq, read_recompute_events.property_events, read_recompute_events.row_limit,
    read_recompute_events.byte_limit
  ) as p;
$$;

comment on function svc_api.read_recompute_events(integer, text, text, bigint, text[], integer, bigint) is
  'The next events of one customer for a replay.';
