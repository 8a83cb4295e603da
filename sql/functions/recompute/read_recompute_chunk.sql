-- The next customers of a recompute, after one of them in order of their ids, each with all that a replay needs: {customerId, revision,
-- createdAt (ms), traits, state, generation, told, events, executions, moreEvents, moreExecutions}. told are the expirations of journeys
-- that were emitted, [journey, ms]; events are all evaluated ones, as lists of one length {seqs, at (ms), names, properties} that are null
-- where there are none, and where there are more than a page, by number or bytes: moreEvents says so, and svc.replayed_page reads them.
-- executions is the present log of rules, of [rule, result, triggered by, ms], its first page where moreExecutions says so. Where customers
-- have more bytes than a limit, there are fewer than asked for, but at least one. customer_id names the only one to read; revision changes
-- with the row. One statement, which sees one snapshot of the database.
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
  -- A cursor is read row by row; a loop over a query would read fifty customers ahead, whatever they hold.
  _customers cursor for
    select
      json_build_object(
        'customerId', c.customer_id,
        'revision', c.revision,
        'createdAt', floor(extract(epoch from c.created_at) * 1000)::bigint,
        'traits', c.traits,
        'state', c.state,
        'generation', c.generation,
        'told', m.told,
        'events', e.lists,
        'moreEvents', not e.are_whole,
        'executions', x.list,
        'moreExecutions', x.amount > read_recompute_chunk.limit_each
      ) as document
    from (
      (
        select k.customer_id, k.xmin::text as revision, k.created_at, k.traits, k.state, k.generation
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
        select k.customer_id, k.xmin::text, k.created_at, k.traits, k.state, k.generation
        from svc.customers as k
        where k.environment_id = read_recompute_chunk.environment_id
          and k.customer_id = read_recompute_chunk.customer_id
          and k.customer_id > coalesce(read_recompute_chunk.after_customer_id, '')
          and k.created_at <= read_recompute_chunk.pinned_at
        limit 1
      )
    ) as c
    cross join lateral (
      select json_agg(json_build_array(k.metadata ->> 'journey', floor(extract(epoch from k.emitted_at) * 1000)::bigint)) as told
      from svc.emissions as k
      where k.environment_id = read_recompute_chunk.environment_id and k.customer_id = c.customer_id
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
        where l.environment_id = read_recompute_chunk.environment_id and l.customer_id = c.customer_id
          and l.generation = c.generation
        order by l.executed_at, l.execution_seq
        limit read_recompute_chunk.limit_each + 1
      ) as p
    ) as x
    cross join lateral (
      -- Measured as they are stored before they are put together: what is too much is never held as text.
      with page as materialized (
        select
          l.event_seq, l.event, l.occurred_at,
          case when l.event = any(read_recompute_chunk.property_events) then l.properties end as properties
        from (
          select (
            select i.seq
            from svc.inbox as i
            where i.environment_id = read_recompute_chunk.environment_id and i.customer_id = c.customer_id
            order by i.seq
            limit 1
          ) as first_seq
          offset 0
        ) as w
        cross join svc.events as l
        where l.environment_id = read_recompute_chunk.environment_id and l.customer_id = c.customer_id
          and (
            w.first_seq is null
            or l.event_seq < w.first_seq
            -- Asked by key for each: `not exists` may gather all that waits.
            or (
              select true
              from svc.inbox as i
              where i.environment_id = read_recompute_chunk.environment_id and i.customer_id = c.customer_id and i.seq = l.event_seq
            ) is null
          )
        order by l.occurred_at, l.event_seq
        limit read_recompute_chunk.limit_each + 1
      )
      select
        a.are_whole,
        (
          select json_build_object(
            'seqs', array_agg(p.event_seq),
            'at', array_agg(floor(extract(epoch from p.occurred_at) * 1000)::bigint),
            'names', array_agg(p.event),
            'properties', json_agg(p.properties)
          )
          from page as p
          where a.are_whole
        ) as lists
      from (
        select
          count(*) <= read_recompute_chunk.limit_each
            and coalesce(sum(pg_column_size(p.properties)), 0) < read_recompute_chunk.bytes_each as are_whole
        from page as p
      ) as a
    ) as e
    order by c.customer_id collate "C";
  _bytes bigint := 0;
begin
  for _customer in _customers loop
    read_recompute_chunk.customer := _customer.document;
    return next;
    _bytes := _bytes + octet_length(read_recompute_chunk.customer::text);
    exit when _bytes >= read_recompute_chunk.byte_limit;
  end loop;
end;
$$;

comment on function svc_api.read_recompute_chunk(integer, timestamptz, text, float8, text, text[], integer, integer, bigint, bigint) is
  'The next customers of a recompute, each with all that a replay needs.';
