-- The next customers of a backtest, after one of them in order of their ids, each with what its sampler needs, by svc.replay_chunk:
-- {customerId, createdAt (ms), isEvaluated, traits, updates, events, moreEvents}. with_updates: updates are the customer's latest 2,000
-- evaluated updates of traits, in order of acceptance, up to pinned_at, as [seq, accepted at (ms), traits], and traits are those current
-- ones that no stored update names: older updates set them. Otherwise updates is null, and traits are the current ones.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_backtest_chunk(
  environment_id integer, pinned_at timestamptz, sample_share float8, after_customer_id text, property_events text[], with_updates boolean,
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
    read_backtest_chunk.environment_id, read_backtest_chunk.pinned_at, null, read_backtest_chunk.sample_share,
    read_backtest_chunk.after_customer_id, read_backtest_chunk.property_events, read_backtest_chunk.customer_limit,
    read_backtest_chunk.limit_each, read_backtest_chunk.bytes_each, read_backtest_chunk.byte_limit, true, read_backtest_chunk.with_updates
  ) as c;
$$;

comment on function svc_api.read_backtest_chunk(integer, timestamptz, float8, text, text[], boolean, integer, integer, bigint, bigint) is
  'The next customers of a backtest, each with what its sampler needs.';
