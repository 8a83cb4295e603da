-- Everything the engine needs about customers that were locked: their state, the operations whose time has come, and whether more of
-- them wait than were read. An operation is [seq, accepted (ms), event or null for an identify, payload, occurred (ms)].
-- Raises nothing, locks nothing.
create or replace function svc.evaluation_input(
  environment_id integer, customer_ids text[], operation_limit integer, instant timestamptz, settled boolean
)
returns json
language sql
stable
set search_path = ''
as $$
  with pending as (
    select i.customer_id, i.seq
    from svc.inbox as i
    where i.environment_id = evaluation_input.environment_id
      and i.customer_id = any(evaluation_input.customer_ids)
      and (i.not_before is null or i.not_before <= evaluation_input.instant)
    order by i.customer_id, i.seq
    limit evaluation_input.operation_limit + 1
  ),
  readable as (
    -- One row past the limit tells that the last customer may have more.
    select p.customer_id, p.seq, count(*) over () > evaluation_input.operation_limit and p.customer_id = max(p.customer_id) over () as truncated
    from pending as p
  ),
  operations as (
    select
      r.customer_id,
      bool_or(r.truncated) as more,
      json_agg(
        json_build_array(
          r.seq,
          floor(extract(epoch from coalesce(e.accepted_at, t.accepted_at)) * 1000)::bigint,
          e.event,
          coalesce(e.properties, t.traits),
          floor(extract(epoch from e.occurred_at) * 1000)::bigint
        ) order by r.seq
      ) as list
    from readable as r
    left join svc.events as e on e.environment_id = evaluation_input.environment_id and e.event_seq = r.seq
    left join svc.trait_updates as t on t.environment_id = evaluation_input.environment_id and t.operation_seq = r.seq
    group by r.customer_id
  )
  select json_build_object(
    'now', floor(extract(epoch from evaluation_input.instant) * 1000)::bigint,
    'settled', evaluation_input.settled,
    'projectId', v.project_id,
    'version', v.active_version,
    'hash', cv.hash,
    'customers', coalesce((
      select json_agg(
        json_build_object(
          'customerId', c.customer_id,
          'createdAt', floor(extract(epoch from c.created_at) * 1000)::bigint,
          'traits', c.traits,
          'state', c.state,
          'operations', coalesce(o.list, '[]'),
          'more', coalesce(o.more, false)
        ) order by c.customer_id
      )
      from svc.customers as c
      left join operations as o on o.customer_id = c.customer_id
      where c.environment_id = evaluation_input.environment_id and c.customer_id = any(evaluation_input.customer_ids)
    ), '[]')
  )
  from svc.environments as v
  left join svc.config_versions as cv on cv.project_id = v.project_id and cv.version = v.active_version
  where v.environment_id = evaluation_input.environment_id;
$$;

comment on function svc.evaluation_input(integer, text[], integer, timestamptz, boolean) is
  'State and operations of customers that were locked for evaluation.';
