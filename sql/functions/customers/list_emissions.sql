-- What evaluation emitted about one customer, oldest first or newest first.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND, SV006 VALIDATION_ERROR (cursor).
-- Locks nothing.
create or replace function svc_api.list_emissions(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, reverse boolean,
  row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_emissions');
  _list constant text := case when list_emissions.reverse then 'timeline-newest' else 'timeline' end;
  _after constant bigint := svc.decode_cursor(_list, list_emissions.cursor, '^[0-9]{1,18}$')::bigint;
  _items json[];
  _positions text[];
begin
  perform svc.require_customer(_environment.environment_id, list_emissions.customer_id);
  select array_agg(r.item order by r.place), array_agg(r.emission_seq::text order by r.place)
  into _items, _positions
  from (
    select
      m.emission_seq,
      case when list_emissions.reverse then -m.emission_seq else m.emission_seq end as place,
      json_build_object(
        'id', svc.emission_id(m.emission_seq),
        'eventType', m.event_type,
        'source', m.source,
        'metadata', m.metadata,
        'timestamp', svc.iso(m.emitted_at),
        'cause', json_build_object('type', m.cause_type, 'id', m.cause_id),
        'configVersion', 'v' || m.config_version,
        -- The former names of these members.
        'at', svc.iso(m.emitted_at),
        'type', m.event_type
      ) as item
    from (
      (
        select e.*
        from svc.emissions as e
        where not list_emissions.reverse
          and e.environment_id = _environment.environment_id
          and e.customer_id = list_emissions.customer_id
          and e.emission_seq > coalesce(_after, 0)
        order by e.emission_seq
        limit row_limit + 1
      )
      union all
      (
        select e.*
        from svc.emissions as e
        where list_emissions.reverse
          and e.environment_id = _environment.environment_id
          and e.customer_id = list_emissions.customer_id
          and (_after is null or e.emission_seq < _after)
        order by e.emission_seq desc
        limit row_limit + 1
      )
    ) as m
  ) as r;
  return svc.page(_list, _items, _positions, row_limit);
end;
$$;

comment on function svc_api.list_emissions(bytea, text, text, text, text, boolean, integer, text) is
  'What evaluation emitted about a customer, oldest or newest first.';
