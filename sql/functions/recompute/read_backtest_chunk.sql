-- The next customers of a backtest, after one of them in order of their ids, each with what its sampler needs: {customerId, createdAt (ms),
-- isEvaluated, traits, updates, events, moreEvents}. events are the first page of the evaluated ones, by svc.replayed_page. Where it is
-- asked for updates, these are the customer's latest 2,000 evaluated updates of traits, in order of acceptance, up to pinned_at, as
-- [seq, accepted at (ms), traits], and traits are those present ones that no update names which is still kept: older ones set them. Else
-- updates is null, and traits are the present ones. Where customers would have more bytes than the limit, there are fewer than asked for,
-- but at least one.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_backtest_chunk(
  environment_id integer, pinned_at timestamptz, sample_share float8, after_customer_id text, property_events text[], with_updates boolean,
  customer_limit integer, limit_each integer, bytes_each bigint, byte_limit bigint
)
returns table (customer json)
language plpgsql
stable
security definer
set search_path = ''
-- By key, whatever the statistics say, as in begin_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _customer record;
  _bytes bigint := 0;
begin
  for _customer in
    select
      n.customer_id, n.created_at, n.is_evaluated, u.list as updates,
      n.traits - array(select jsonb_object_keys(k.value) from jsonb_array_elements(u.kept) as k) as traits
    from (
      select c.customer_id, c.created_at, c.traits, c.state is not null as is_evaluated
      from svc.customers as c
      where c.environment_id = read_backtest_chunk.environment_id
        and c.customer_id > coalesce(read_backtest_chunk.after_customer_id, '')
        and c.created_at <= read_backtest_chunk.pinned_at
        and (read_backtest_chunk.sample_share is null or svc.is_sampled(c.customer_id, read_backtest_chunk.sample_share))
      order by c.customer_id
      limit read_backtest_chunk.customer_limit
    ) as n
    cross join lateral (
      select
        json_agg(
          json_build_array(l.operation_seq, floor(extract(epoch from l.accepted_at) * 1000)::bigint, l.traits)
          order by l.operation_seq
        ) filter (where l.accepted_at <= read_backtest_chunk.pinned_at) as list,
        jsonb_agg(l.traits) as kept
      from (
        select k.operation_seq, k.accepted_at, k.traits
        from svc.trait_updates as k
        where read_backtest_chunk.with_updates
          and k.environment_id = read_backtest_chunk.environment_id and k.customer_id = n.customer_id
          and not exists (
            select 1 from svc.inbox as i
            where i.environment_id = read_backtest_chunk.environment_id and i.customer_id = k.customer_id and i.seq = k.operation_seq
          )
        order by k.operation_seq desc
        limit 2000
      ) as l
    ) as u
    order by n.customer_id collate "C"
  loop
    select json_build_object(
      'customerId', _customer.customer_id,
      'createdAt', floor(extract(epoch from _customer.created_at) * 1000)::bigint,
      'isEvaluated', _customer.is_evaluated,
      'traits', _customer.traits,
      'updates', _customer.updates,
      'events', e.events,
      'moreEvents', e.more
    )
    into read_backtest_chunk.customer
    from svc.replayed_page(
      read_backtest_chunk.environment_id, _customer.customer_id, '-infinity', 0, read_backtest_chunk.property_events,
      read_backtest_chunk.limit_each, read_backtest_chunk.bytes_each
    ) as e;
    return next;
    _bytes := _bytes + octet_length(read_backtest_chunk.customer::text);
    exit when _bytes >= read_backtest_chunk.byte_limit;
  end loop;
end;
$$;

comment on function svc_api.read_backtest_chunk(integer, timestamptz, float8, text, text[], boolean, integer, integer, bigint, bigint) is
  'The next customers of a backtest, each with what its sampler needs.';
