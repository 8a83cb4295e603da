-- The next customers of a recompute, after one of them in order of their ids, each with all that a replay needs, by svc.replay_chunk:
-- {customerId, revision, createdAt (ms), through (ms), traits, state, generation, told, events, executions, moreEvents, moreExecutions}.
-- through is where the replay ends: at the pinned instant, or where the customer was evaluated to if that is later; but not in the future,
-- so that a customer that was evaluated while the database's clock was ahead returns to the present. told are the
-- expirations of journeys that were emitted, [journey, ms]; executions is the current log of rules, of [rule, result, triggered by, ms],
-- only its first page if moreExecutions. customer_id names the only customer to read; revision changes with the row.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_recompute_chunk(
  environment_id integer, pinned_at timestamptz, customer_id text, sample_share float8, after_customer_id text, property_events text[],
  customer_limit integer, limit_each integer, bytes_each bigint, byte_limit bigint
)
returns table (customer json)
language sql
stable
security definer
set search_path = ''
as $$
  select c.customer
  from svc.replay_chunk(
    read_recompute_chunk.environment_id, read_recompute_chunk.pinned_at, read_recompute_chunk.customer_id,
    read_recompute_chunk.sample_share, read_recompute_chunk.after_customer_id, read_recompute_chunk.property_events,
    read_recompute_chunk.customer_limit, read_recompute_chunk.limit_each, read_recompute_chunk.bytes_each,
    read_recompute_chunk.byte_limit, false, false
  ) as c;
$$;

comment on function svc_api.read_recompute_chunk(integer, timestamptz, text, float8, text, text[], integer, integer, bigint, bigint) is
  'The next customers of a recompute, each with all that a replay needs.';
