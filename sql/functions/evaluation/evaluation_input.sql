-- Everything the engine needs about locked customers: their state, up to operations_each waiting operations of each, and whether more wait.
-- If the texts exceed 1.6 kB for each operation that may be read, or 8 MB, there are fewer customers and fewer operations of each, but at
-- least one: the rest waits for the next call, and more says whether customers were left out. webhooks is the number of webhooks that an
-- emission can go to. An operation is [seq, accepted (ms), event or null for an identify, payload, occurred (ms)]. Events in the future are
-- read five minutes early, because an event may occur that long after its acceptance, and earlier ones must be evaluated before it;
-- aheadFrom (ms) is when the first of those left out is due.
-- Raises nothing, locks nothing.
create or replace function svc.evaluation_input(
  environment_id integer, customer_ids text[], operations_each integer, instant timestamptz, settled boolean
)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _transaction_id constant text := pg_current_xact_id_if_assigned()::text;
  _project_id integer;
  _version integer;
  _hash text;
  _webhooks bigint;
  _customers json;
  _more boolean;
begin
  select v.project_id, v.active_version, cv.hash into _project_id, _version, _hash
  from svc.environments as v
  left join svc.config_versions as cv on cv.project_id = v.project_id and cv.version = v.active_version
  where v.environment_id = evaluation_input.environment_id;
  select count(*) into _webhooks
  from svc.webhooks as h
  where h.environment_id = evaluation_input.environment_id and h.disabled_at is null and h.deleted_at is null;

  with stored as (
    select
      c.*,
      sum(c.bytes) over (order by c.customer_id rows unbounded preceding) - c.bytes as bytes_before
    from (
      select
        k.customer_id, k.created_at, k.traits, k.state, k.generation,
        -- Like svc.text_bytes, for json.
        coalesce(case when pg_column_compression(k.state) is null then pg_column_size(k.state) else octet_length(k.state::text) end, 0)
        + svc.text_bytes(k.traits) as bytes
      from unnest(evaluation_input.customer_ids) as w (customer_id)
      cross join lateral (
        select c.customer_id, c.created_at, c.traits, c.state, c.generation
        from svc.customers as c
        where c.environment_id = evaluation_input.environment_id and c.customer_id = w.customer_id
        limit 1
      ) as k
    ) as c
  ),
  inputs as (
    select
      c.customer_id,
      json_build_object(
        'customerId', c.customer_id,
        'createdAt', svc.epoch_ms(c.created_at),
        'traits', c.traits,
        'state', c.state,
        'generation', c.generation,
        'operations', case
          when a.list is null then coalesce(o.list, '[]')
          else (
            select json_agg(l.operation order by (l.operation ->> 0)::bigint)
            from (
              select json_array_elements(o.list)
              union all
              select json_array_elements(a.list)
            ) as l (operation)
          )
        end,
        'more', coalesce(o.more, false),
        'aheadFrom', svc.epoch_ms(a.first_left_out)
      ) as input
    from stored as c
    cross join (
      select m.bytes_max, m.bytes_max / greatest(1, cardinality(evaluation_input.customer_ids)) as bytes_each
      from (
        select least(8000000, 1600::bigint * evaluation_input.operations_each * cardinality(evaluation_input.customer_ids))
      ) as m (bytes_max)
    ) as b
    cross join lateral (
      select
        bool_or(not p.taken) as more,
        json_agg(
          json_build_array(
            p.seq,
            svc.epoch_ms(p.accepted_at),
            p.event,
            p.payload,
            svc.epoch_ms(p.occurred_at)
          ) order by p.seq
        ) filter (where p.taken) as list
      from (
        select
          i.seq, e.event, e.occurred_at, coalesce(e.accepted_at, t.accepted_at) as accepted_at, d.payload,
          row_number() over w = 1
            or row_number() over w <= evaluation_input.operations_each and sum(d.bytes) over w <= b.bytes_each
            as taken
        from (
          select k.seq
          from svc.inbox as k
          where k.environment_id = evaluation_input.environment_id
            and k.customer_id = c.customer_id
            -- Means "is null", written so that only the primary key can serve: the index of ready rows cannot be searched by customer.
            and coalesce(k.not_before, '-infinity') = '-infinity'
          order by k.seq
          -- One more than the limit shows whether there are more.
          limit evaluation_input.operations_each + 1
        ) as i
        left join lateral (
          select k.accepted_at, k.event, k.properties, k.occurred_at
          from svc.events as k
          where k.environment_id = evaluation_input.environment_id and k.event_seq = i.seq
          limit 1
        ) as e on true
        left join lateral (
          select k.accepted_at, k.traits
          from svc.trait_updates as k
          where k.environment_id = evaluation_input.environment_id and k.operation_seq = i.seq and e.event is null
          limit 1
        ) as t on true
        cross join lateral (
          select f.payload, svc.text_bytes(f.payload)
          from (select coalesce(e.properties, t.traits)) as f (payload)
        ) as d (payload, bytes)
        -- In the order of reading, so that nothing is sorted.
        window w as (order by i.seq rows unbounded preceding)
      ) as p
    ) as o
    cross join lateral (
      -- Only events can lie in the future.
      select
        min(p.not_before) filter (where not p.taken) as first_left_out,
        json_agg(
          json_build_array(
            p.seq,
            svc.epoch_ms(p.accepted_at),
            p.event,
            p.properties,
            svc.epoch_ms(p.occurred_at)
          )
        ) filter (where p.taken) as list
      from (
        select
          i.seq, i.not_before, e.accepted_at, e.event, e.properties, e.occurred_at,
          row_number() over w = 1
            or row_number() over w <= greatest(evaluation_input.operations_each, 1000)
            and sum(svc.text_bytes(e.properties)) over w <= b.bytes_each
            as taken
        from (
          select k.seq, k.not_before
          from svc.inbox as k
          where k.environment_id = evaluation_input.environment_id
            and k.customer_id = c.customer_id
            and k.not_before <= evaluation_input.instant + svc.punctual()
          order by k.not_before, k.seq
          limit greatest(evaluation_input.operations_each, 1000) + 1
        ) as i
        cross join lateral (
          select k.accepted_at, k.event, k.properties, k.occurred_at
          from svc.events as k
          where k.environment_id = evaluation_input.environment_id and k.event_seq = i.seq
          limit 1
        ) as e
        window w as (order by i.not_before, i.seq rows unbounded preceding)
      ) as p
    ) as a
    where c.bytes_before <= b.bytes_max
  )
  select coalesce(json_agg(i.input order by i.customer_id), '[]'), count(*) < cardinality(evaluation_input.customer_ids)
  into _customers, _more
  from inputs as i;

  return json_build_object(
    'now', svc.epoch_ms(evaluation_input.instant),
    'settled', evaluation_input.settled,
    'webhooks', _webhooks,
    'transactionId', _transaction_id,
    'projectId', _project_id,
    'version', _version,
    'hash', _hash,
    'customers', _customers,
    'more', _more
  );
end;
$$;

comment on function svc.evaluation_input(integer, text[], integer, timestamptz, boolean) is
  'State and operations of customers that were locked for evaluation.';
