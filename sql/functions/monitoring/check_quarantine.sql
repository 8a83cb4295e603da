-- OPERATIONS_QUARANTINED where operations are in quarantine, with how many of the oldest 2,000 the active version accepts now, else null.
-- They are looked at by the compiled predicates, which say of few that conform that they do not.
-- Raises nothing, locks nothing.
create or replace function svc.check_quarantine(environment_id integer, environment_name text, project_id integer, active_version integer)
returns json
language sql
stable
set search_path = ''
begin atomic
  select svc.finding(
    'OPERATIONS_QUARANTINED',
    case when n.operations >= svc.quarantine_limit() then 'problem' else 'warning' end,
    format(
      '%s in quarantine since %s: accepted, but not evaluated, because the schema forbids them.%s',
      svc.counted(n.operations, 'operation is', 'operations are'), svc.iso(o.since),
      case when o.acceptable > 0 then format(' The active version accepts %s of the oldest %s.', o.acceptable, o.looked_at) end
    ),
    format(
      case
        when o.acceptable > 0 then 'Release what is valid now: svc events quarantine release --all --env %1$s'
        else 'See why: svc events quarantine list --env %1$s. Deploy a schema that accepts them and release them, or discard them.'
      end,
      check_quarantine.environment_name
    ),
    n.operations,
    json_build_object('since', svc.iso(o.since), 'acceptable', o.acceptable, 'lookedAt', o.looked_at)
  )
  from svc.quarantines as n
  cross join lateral (
    select
      min(k.quarantined_at) as since,
      count(*) as looked_at,
      count(*) filter (
        where not k.operation ? 'problem' and (
          v.strict_schema is not true
          or svc.payload_conforms(coalesce(k.operation -> 'properties', k.operation -> 'traits', '{}'), c.names, c.predicate)
        )
      ) as acceptable
    from (
      select q.quarantined_at, q.event, q.operation
      from svc.quarantined_operations as q
      where q.environment_id = check_quarantine.environment_id
      order by q.seq
      limit 2000
    ) as k
    left join svc.config_versions as v
      on v.project_id = check_quarantine.project_id and v.version = check_quarantine.active_version
    left join svc.payload_checks as c
      on c.project_id = check_quarantine.project_id
      and c.version = check_quarantine.active_version
      and c.event = coalesce(k.event, '')
  ) as o
  where n.environment_id = check_quarantine.environment_id and n.operations > 0;
end;

comment on function svc.check_quarantine(integer, text, integer, integer) is 'Diagnostics: operations in quarantine.';
