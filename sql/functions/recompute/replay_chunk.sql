-- The next customers of a recompute or a backtest, after one of them in order of their ids, each with its history: the answer of
-- svc_api.read_recompute_chunk or svc_api.read_backtest_chunk. events are all evaluated events, as lists of the same length
-- {seqs, at (ms), names, properties} in order of occurrence and acceptance, null if there are none. If there are more than limit_each, or
-- they have more than bytes_each bytes as stored, moreEvents is true and the lists are null: svc.replayed_page reads the events page by
-- page. If customers exceed byte_limit, there are fewer than customer_limit, but at least one. A single statement, which on a cluster runs
-- on one node and sees one snapshot of it.
-- Raises nothing, locks nothing.
create or replace function svc.replay_chunk(
  environment_id integer, pinned_at timestamptz, customer_id text, sample_share float8, after_customer_id text, property_events text[],
  customer_limit integer, limit_each integer, bytes_each bigint, byte_limit bigint, of_backtest boolean, with_updates boolean
)
returns table (customer json)
language plpgsql
stable
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk; never compile.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  _latest constant timestamptz := now() + svc.punctual();
  -- A cursor is read row by row; a loop over a query would read fifty customers ahead, however large they are. On a cluster the node
  -- answers all requested customers, and the coordinator keeps them on disk.
  _customers cursor for
    select
      case
        when replay_chunk.of_backtest then json_build_object(
          'customerId', c.customer_id,
          'createdAt', svc.epoch_ms(c.created_at),
          'isEvaluated', c.state is not null,
          'traits', c.traits - array(select jsonb_object_keys(k.value) from jsonb_array_elements(u.kept) as k),
          'updates', u.list,
          'events', e.lists,
          'moreEvents', not e.are_whole
        )
        else json_build_object(
          'customerId', c.customer_id,
          'revision', c.revision,
          'createdAt', svc.epoch_ms(c.created_at),
          'through', svc.epoch_ms(case when c.through > _latest then now() else c.through end),
          'traits', c.traits,
          'state', c.state,
          'generation', c.generation,
          'told', m.told,
          'events', e.lists,
          'moreEvents', not e.are_whole,
          'executions', x.list,
          'moreExecutions', x.amount > replay_chunk.limit_each
        )
      end as document,
      e.are_whole
    from (
      (
        select
          k.customer_id, k.xmin::text as revision, k.created_at, k.traits, k.state, k.generation,
          greatest(replay_chunk.pinned_at, k.evaluated_through) as through
        from svc.customers as k
        where replay_chunk.customer_id is null
          and k.environment_id = replay_chunk.environment_id
          and k.customer_id > coalesce(replay_chunk.after_customer_id, '')
          and svc.existed_at(k.created_at, replay_chunk.pinned_at)
          and (replay_chunk.sample_share is null or svc.is_sampled(k.customer_id, replay_chunk.sample_share))
        order by k.customer_id
        limit replay_chunk.customer_limit
      )
      union all
      (
        select
          k.customer_id, k.xmin::text, k.created_at, k.traits, k.state, k.generation,
          greatest(replay_chunk.pinned_at, k.evaluated_through)
        from svc.customers as k
        where k.environment_id = replay_chunk.environment_id
          and k.customer_id = replay_chunk.customer_id
          and k.customer_id > coalesce(replay_chunk.after_customer_id, '')
          and svc.existed_at(k.created_at, replay_chunk.pinned_at)
        limit 1
      )
    ) as c
    cross join lateral (
      select json_agg(json_build_array(k.metadata ->> 'journey', svc.epoch_ms(k.emitted_at))) as told
      from svc.emissions as k
      where not replay_chunk.of_backtest
        and k.environment_id = replay_chunk.environment_id and k.customer_id = c.customer_id
        and k.event_type = 'journey.expired' and k.source = 'journey'
    ) as m
    cross join lateral (
      select
        count(*) as amount,
        json_agg(
          json_build_array(p.rule_id, p.result, p.triggered_by, svc.epoch_ms(p.executed_at))
        ) as list
      from (
        select l.rule_id, l.result, l.triggered_by, l.executed_at
        from svc.rule_executions as l
        where not replay_chunk.of_backtest
          and l.environment_id = replay_chunk.environment_id and l.customer_id = c.customer_id
          and l.generation = c.generation
        order by l.executed_at, l.execution_seq
        limit replay_chunk.limit_each + 1
      ) as p
    ) as x
    cross join lateral (
      select
        json_agg(
          json_build_array(l.operation_seq, svc.epoch_ms(l.accepted_at), l.traits)
          order by l.operation_seq
        ) filter (where l.accepted_at <= replay_chunk.pinned_at) as list,
        jsonb_agg(l.traits) as kept
      from (
        select k.operation_seq, k.accepted_at, k.traits
        from svc.trait_updates as k
        where replay_chunk.with_updates
          and k.environment_id = replay_chunk.environment_id and k.customer_id = c.customer_id
          and not exists (
            select 1 from svc.inbox as i
            where i.environment_id = replay_chunk.environment_id and i.customer_id = k.customer_id and i.seq = k.operation_seq
          )
        order by k.operation_seq desc
        limit 2000
      ) as l
    ) as u
    cross join lateral (
      select
        p.lists is not null as are_whole,
        coalesce(p.lists, '{"seqs": null, "at": null, "names": null, "properties": null}') as lists
      from (
        -- In one pass: keeping the page to measure it first took a sixth of the time. limit_each bounds what is put together in vain.
        select
          case
            when count(*) <= replay_chunk.limit_each and coalesce(sum(pg_column_size(l.properties)), 0) < replay_chunk.bytes_each
              then json_build_object(
                'seqs', array_agg(l.event_seq),
                'at', array_agg(svc.epoch_ms(l.occurred_at)),
                'names', array_agg(l.event),
                'properties', json_agg(l.properties)
              )
          end as lists
        from (
          select
            k.event_seq, k.event, k.occurred_at,
            case when k.event = any(replay_chunk.property_events) then k.properties end as properties
          from (
            select (
              select i.seq
              from svc.inbox as i
              where i.environment_id = replay_chunk.environment_id and i.customer_id = c.customer_id
              order by i.seq
              limit 1
            ) as first_seq
            offset 0
          ) as w
          cross join svc.events as k
          where k.environment_id = replay_chunk.environment_id and k.customer_id = c.customer_id
            and (
              w.first_seq is null
              or k.event_seq < w.first_seq
              -- Looked up by key for each: `not exists` might collect all that waits.
              or (
                select true
                from svc.inbox as i
                where i.environment_id = replay_chunk.environment_id and i.customer_id = c.customer_id and i.seq = k.event_seq
              ) is null
            )
          order by k.occurred_at, k.event_seq
          limit replay_chunk.limit_each + 1
        ) as l
      ) as p
    ) as e
    order by c.customer_id collate "C";
  _bytes bigint := 0;
begin
  for _customer in _customers loop
    replay_chunk.customer := _customer.document;
    return next;
    _bytes := _bytes + case
      when _customer.are_whole then octet_length(replay_chunk.customer::text)
      -- Its replay takes long, and its events are read separately.
      else replay_chunk.byte_limit / 8
    end;
    exit when _bytes >= replay_chunk.byte_limit;
  end loop;
end;
$$;

comment on function
  svc.replay_chunk(integer, timestamptz, text, float8, text, text[], integer, integer, bigint, bigint, boolean, boolean) is
  'The next customers of a recompute or a backtest, each with its history.';
