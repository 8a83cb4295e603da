-- SCHEMA_VIOLATIONS if accepted operations violate the active version's schema, which is not strict, with the hundred most
-- frequent kinds; else null. Events that are not declared are reported by svc.check_undeclared_events.
-- Raises nothing, locks nothing.
create or replace function svc.check_violations(environment_id integer, active_version integer)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.finding(
    'SCHEMA_VIOLATIONS',
    'warning',
    format(
      'accepted operations violate the schema of the active version v%s in %s.',
      check_violations.active_version, svc.count_text(max(k.kinds), 'way', 'ways')
    ),
    'Correct the sender, or declare these values in the model and deploy it. A strict schema (strictSchema: true) refuses them.',
    max(k.kinds),
    json_build_object(
      'operations', sum(k.operations),
      'violations', json_agg(
        json_build_object(
          'event', nullif(k.event, ''),
          'code', k.code,
          'path', k.path,
          'operations', k.operations,
          'firstSeenAt', svc.iso(k.first_seen_at),
          'lastSeenAt', svc.iso(k.last_seen_at),
          'lastEventId', case when k.event <> '' or o.is_event then svc.event_id(k.last_seq) end,
          'lastCustomerId', o.customer_id
        )
        order by k.operations desc, k.event, k.code, k.path
      )
    )
  )
  from (
    select v.*, count(*) over () as kinds
    from svc.schema_violations as v
    where v.environment_id = check_violations.environment_id
      and v.version = check_violations.active_version
      and v.code <> 'UNKNOWN_EVENT'
    order by v.operations desc, v.event, v.code, v.path
    limit 100
  ) as k
  left join lateral (
    select e.customer_id, true as is_event
    from svc.events as e
    where e.environment_id = check_violations.environment_id and e.event_seq = k.last_seq
    union all
    select t.customer_id, false
    from svc.trait_updates as t
    where t.environment_id = check_violations.environment_id and t.operation_seq = k.last_seq
  ) as o on true
  having count(*) > 0;
$$;

comment on function svc.check_violations(integer, integer) is 'Diagnostics: accepted operations that violate the schema.';
