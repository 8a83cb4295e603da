-- OPERATIONS_QUARANTINED if operations are in quarantine, with how many of the oldest 2,000 the active version would accept now, else null.
-- They are checked by the compiled predicates, which reject a few that do conform. It is a problem once there is no room for another one.
-- Raises nothing, locks nothing.
create or replace function svc.check_quarantine(environment_id integer, environment_name text, project_id integer, active_version integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _operations constant bigint := (
    select q.operations from svc.quarantines as q where q.environment_id = check_quarantine.environment_id
  );
  _since timestamptz;
  _events text[];
  _oldest jsonb[];
  _acceptable bigint;
  _is_full boolean;
begin
  if _operations > 0 is not true then
    return null;
  end if;
  select min(k.quarantined_at), array_agg(k.event), array_agg(k.operation) into _since, _events, _oldest
  from (
    select q.quarantined_at, q.event, q.operation
    from svc.quarantined_operations as q
    where q.environment_id = check_quarantine.environment_id
    order by q.seq
    limit 2000
  ) as k;
  select count(*) into _acceptable
  from unnest(_events, _oldest) as k (event, operation)
  left join svc.config_versions as v
    on v.project_id = check_quarantine.project_id and v.version = check_quarantine.active_version
  left join svc.payload_checks as c
    on c.project_id = check_quarantine.project_id
    and c.version = check_quarantine.active_version
    and c.event = coalesce(k.event, '')
  where not k.operation ? 'problem' and (
    v.strict_schema is not true
    or svc.payload_conforms(coalesce(k.operation -> 'properties', k.operation -> 'traits', '{}'), c.names, c.predicate)
  );
  _is_full := not svc.has_quarantine_room(check_quarantine.environment_id, 1);
  return svc.finding(
    'OPERATIONS_QUARANTINED',
    case when _is_full then 'problem' else 'warning' end,
    format(
      '%s in quarantine since %s: accepted, but not evaluated, because the schema forbids them.%s%s',
      svc.count_text(_operations, 'operation is', 'operations are'), svc.iso(_since),
      case when _is_full then ' The quarantine is full, so further ones are refused.' end,
      case when _acceptable > 0 then format(' The active version accepts %s of the oldest %s.', _acceptable, cardinality(_oldest)) end
    ),
    format(
      case
        when _acceptable > 0 then 'Release what is valid now: svc events quarantine release --all --env %1$s'
        else 'See why: svc events quarantine list --env %1$s. Deploy a schema that accepts them and release them, or discard them.'
      end,
      check_quarantine.environment_name
    ),
    _operations,
    json_build_object('since', svc.iso(_since), 'acceptable', _acceptable, 'lookedAt', coalesce(cardinality(_oldest), 0))
  );
end;
$$;

comment on function svc.check_quarantine(integer, text, integer, integer) is 'Diagnostics: operations in quarantine.';
