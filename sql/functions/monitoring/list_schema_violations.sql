-- How accepted operations violated a schema that is not strict: newest version first, then by event, code and path. The example of each
-- kind is the last operation; its customer is unknown if the operation is no longer stored. version limits the list to one.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_schema_violations(
  token_hash bytea, organization_id text, project_slug text, environment_name text, version integer, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_schema_violations');
  -- The key of the last row of the previous page. Later writes cannot move it: versions only grow, and a row keeps its key.
  _after constant jsonb := svc.decode_cursor('schema-violations', list_schema_violations.cursor)::jsonb;
  _version constant integer := _after ->> 0;
  _items json[];
  _positions text[];
begin
  select
    array_agg(r.item order by r.n),
    array_agg(r.position order by r.n)
  into _items, _positions
  from (
    select
      row_number() over (order by v.version desc, v.event, v.code, v.path) as n,
      json_build_array(v.version, v.event, v.code, v.path)::text as position,
      json_build_object(
        'configVersion', 'v' || v.version,
        'event', nullif(v.event, ''),
        'code', v.code,
        'path', v.path,
        'operations', v.operations,
        'firstSeenAt', svc.iso(v.first_seen_at),
        'lastSeenAt', svc.iso(v.last_seen_at),
        'lastEventId', case when v.event <> '' or e.event_seq is not null then svc.event_id(v.last_seq) end,
        'lastCustomerId', coalesce(e.customer_id, t.customer_id)
      ) as item
    from (
      select s.*
      from svc.schema_violations as s
      where s.environment_id = _environment.environment_id
        and (list_schema_violations.version is null or s.version = list_schema_violations.version)
        and (
          _after is null
          or s.version < _version
          or (s.version = _version and (s.event, s.code, s.path) > (_after ->> 1, _after ->> 2, _after ->> 3))
        )
      order by s.version desc, s.event, s.code, s.path
      limit row_limit + 1
    ) as v
    left join svc.events as e on e.environment_id = _environment.environment_id and e.event_seq = v.last_seq
    left join svc.trait_updates as t on t.environment_id = _environment.environment_id and t.operation_seq = v.last_seq
  ) as r;
  return svc.page('schema-violations', _items, _positions, row_limit);
end;
$$;

comment on function svc_api.list_schema_violations(bytea, text, text, text, integer, integer, text) is
  'How accepted operations violated a schema that is not strict, newest version first.';
