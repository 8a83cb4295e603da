-- Everything the engine needs about customers that were locked: their state, so many of the waiting operations of each, and whether more
-- of them wait. An operation is [seq, accepted (ms), event or null for an identify, payload, occurred (ms)].
-- Operations that lay ahead are read five minutes early, because an event may occur as much after its acceptance and must find those
-- before it evaluated.
-- Raises nothing, locks nothing.
create or replace function svc.evaluation_input(
  environment_id integer, customer_ids text[], operations_each integer, instant timestamptz, settled boolean
)
returns json
language sql
stable
set search_path = ''
as $$
  with inputs as (
    select
      c.customer_id,
      json_build_object(
        'customerId', c.customer_id,
        'createdAt', floor(extract(epoch from c.created_at) * 1000)::bigint,
        'traits', c.traits,
        'state', c.state,
        'generation', c.generation,
        'operations', coalesce(o.list, '[]'),
        'more', coalesce(o.more, false)
      ) as input
    from unnest(evaluation_input.customer_ids) as w (customer_id)
    cross join lateral (
      select k.customer_id, k.created_at, k.traits, k.state, k.generation
      from svc.customers as k
      where k.environment_id = evaluation_input.environment_id and k.customer_id = w.customer_id
      limit 1
    ) as c
    cross join lateral (
      select
        bool_or(p.position > evaluation_input.operations_each) as more,
        json_agg(
          json_build_array(
            p.seq,
            floor(extract(epoch from coalesce(e.accepted_at, t.accepted_at)) * 1000)::bigint,
            e.event,
            coalesce(e.properties, t.traits),
            floor(extract(epoch from e.occurred_at) * 1000)::bigint
          ) order by p.seq
        ) filter (where p.position <= evaluation_input.operations_each) as list
      from (
        (
          select i.seq, row_number() over (order by i.seq) as position
          from svc.inbox as i
          where i.environment_id = evaluation_input.environment_id
            and i.customer_id = w.customer_id
            -- Is null, said so that only the primary key serves: the index of what is ready has no customer to search by.
            and coalesce(i.not_before, '-infinity') = '-infinity'
          order by i.seq
          -- One past the limit tells that there are more.
          limit evaluation_input.operations_each + 1
        )
        union all
        select i.seq, 0
        from svc.inbox as i
        where i.environment_id = evaluation_input.environment_id
          and i.customer_id = w.customer_id
          and i.not_before <= evaluation_input.instant + interval '5 minutes'
      ) as p
      left join lateral (
        select k.accepted_at, k.event, k.properties, k.occurred_at
        from svc.events as k
        where k.environment_id = evaluation_input.environment_id and k.event_seq = p.seq
        limit 1
      ) as e on true
      left join lateral (
        select k.accepted_at, k.traits
        from svc.trait_updates as k
        where k.environment_id = evaluation_input.environment_id and k.operation_seq = p.seq and e.event is null
        limit 1
      ) as t on true
    ) as o
  )
  select json_build_object(
    'now', floor(extract(epoch from evaluation_input.instant) * 1000)::bigint,
    'settled', evaluation_input.settled,
    'transactionId', pg_current_xact_id_if_assigned()::text,
    'projectId', v.project_id,
    'version', v.active_version,
    'hash', cv.hash,
    'customers', (select coalesce(json_agg(i.input order by i.customer_id), '[]') from inputs as i)
  )
  from svc.environments as v
  left join svc.config_versions as cv on cv.project_id = v.project_id and cv.version = v.active_version
  where v.environment_id = evaluation_input.environment_id;
$$;

comment on function svc.evaluation_input(integer, text[], integer, timestamptz, boolean) is
  'State and operations of customers that were locked for evaluation.';
