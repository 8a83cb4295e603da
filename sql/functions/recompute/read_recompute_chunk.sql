-- The next customers of a recompute, after one of them in order of their ids, each with all that a replay needs: {customerId, revision,
-- createdAt (ms), traits, state, generation, told, events, executions, moreEvents, moreExecutions}. told are the expirations of journeys
-- that were emitted, [journey, ms]; events are the first page of the evaluated ones, by svc.replayed_page; executions is the present log of
-- rules, of [rule, result, triggered by, ms]. Where there are more of either, more… says so. Where they would have more bytes than a limit,
-- there are fewer customers than asked for, but at least one. customer_id names the only one to read; revision changes with the row.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_recompute_chunk(
  environment_id integer, pinned_at timestamptz, customer_id text, sample_share float8, after_customer_id text, property_events text[],
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
    select c.*, m.told, x.list as executions, x.amount
    from (
      (
        select k.customer_id
        from svc.customers as k
        where read_recompute_chunk.customer_id is null
          and k.environment_id = read_recompute_chunk.environment_id
          and k.customer_id > coalesce(read_recompute_chunk.after_customer_id, '')
          and k.created_at <= read_recompute_chunk.pinned_at
          and (read_recompute_chunk.sample_share is null or svc.is_sampled(k.customer_id, read_recompute_chunk.sample_share))
        order by k.customer_id
        limit read_recompute_chunk.customer_limit
      )
      union all
      (
        select k.customer_id
        from svc.customers as k
        where k.environment_id = read_recompute_chunk.environment_id
          and k.customer_id = read_recompute_chunk.customer_id
          and k.customer_id > coalesce(read_recompute_chunk.after_customer_id, '')
          and k.created_at <= read_recompute_chunk.pinned_at
        limit 1
      )
    ) as n
    cross join lateral (
      select k.customer_id, k.xmin::text as revision, k.created_at, k.traits, k.state, k.generation
      from svc.customers as k
      where k.environment_id = read_recompute_chunk.environment_id and k.customer_id = n.customer_id
      limit 1
    ) as c
    cross join lateral (
      select json_agg(json_build_array(k.metadata ->> 'journey', floor(extract(epoch from k.emitted_at) * 1000)::bigint)) as told
      from svc.emissions as k
      where k.environment_id = read_recompute_chunk.environment_id and k.customer_id = n.customer_id
        and k.event_type = 'journey.expired' and k.source = 'journey'
    ) as m
    cross join lateral (
      select
        count(*) as amount,
        json_agg(
          json_build_array(p.rule_id, p.result, p.triggered_by, floor(extract(epoch from p.executed_at) * 1000)::bigint)
        ) as list
      from (
        select l.rule_id, l.result, l.triggered_by, l.executed_at
        from svc.rule_executions as l
        where l.environment_id = read_recompute_chunk.environment_id and l.customer_id = n.customer_id
          and l.generation = c.generation
        order by l.executed_at, l.execution_seq
        limit read_recompute_chunk.limit_each + 1
      ) as p
    ) as x
    order by n.customer_id collate "C"
  loop
    -- After the customer's row: what is evaluated in between changes the revision.
    select json_build_object(
      'customerId', _customer.customer_id,
      'revision', _customer.revision,
      'createdAt', floor(extract(epoch from _customer.created_at) * 1000)::bigint,
      'traits', _customer.traits,
      'state', _customer.state,
      'generation', _customer.generation,
      'told', _customer.told,
      'events', e.events,
      'moreEvents', e.more,
      'executions', _customer.executions,
      'moreExecutions', _customer.amount > read_recompute_chunk.limit_each
    )
    into read_recompute_chunk.customer
    from svc.replayed_page(
      read_recompute_chunk.environment_id, _customer.customer_id, '-infinity', 0, read_recompute_chunk.property_events,
      read_recompute_chunk.limit_each, read_recompute_chunk.bytes_each
    ) as e;
    return next;
    _bytes := _bytes + octet_length(read_recompute_chunk.customer::text);
    exit when _bytes >= read_recompute_chunk.byte_limit;
  end loop;
end;
$$;

comment on function svc_api.read_recompute_chunk(integer, timestamptz, text, float8, text, text[], integer, integer, bigint, bigint) is
  'The next customers of a recompute, each with all that a replay needs.';
