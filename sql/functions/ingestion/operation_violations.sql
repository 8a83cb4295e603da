-- The slow path of the schema check: every violation of the operations that did not pass the compiled predicates. A suspect that turns out
-- to be valid has no row.
-- Raises nothing, locks nothing.
create or replace function svc.operation_violations(
  project_id integer, version integer, operations jsonb, suspects bigint[], single boolean
)
returns table (ordinal bigint, code text, message text, path text, value jsonb, reason text, fix text)
language sql
stable
set search_path = ''
as $$
  select s.ordinal, v.code, v.message, v.path, v.value, v.reason, v.fix
  from unnest(operation_violations.suspects) as s (ordinal)
  cross join lateral (
    select
      o as operation,
      coalesce(o ->> 'type', 'track') = 'identify' as identify,
      case when operation_violations.single then '' else format('events[%s].', s.ordinal) end as prefix
    from (values (operation_violations.operations -> s.ordinal::integer)) as element (o)
  ) as d
  left join svc.payload_checks as c
    on c.project_id = operation_violations.project_id
    and c.version = operation_violations.version
    and c.event = case when d.identify then '' else d.operation ->> 'event' end
  cross join lateral (
    select
      'UNKNOWN_EVENT' as code,
      format('The event "%s" is not declared by the active configuration.', d.operation ->> 'event') as message,
      d.prefix || 'event' as path,
      d.operation -> 'event' as value,
      'The active schema is strict and declares no event of this name.' as reason,
      'Declare the event in the model and deploy it, or correct its name.' as fix,
      0::bigint as n
    where c.event is null and not d.identify
    union all
    select p.code, p.message, p.path, p.value, p.reason, p.fix, p.n
    from svc.payload_diagnostics(
      case when d.identify then 'traits' else 'properties' end,
      d.operation ->> 'event',
      c.fields,
      coalesce(case when d.identify then d.operation -> 'traits' else d.operation -> 'properties' end, '{}'),
      d.prefix || case when d.identify then 'traits' else 'properties' end
    ) with ordinality as p (code, message, path, value, reason, fix, n)
    -- At most 1,000 per operation: a list of 64 KiB may hold thirty thousand wrong items.
    where c.event is not null and p.n <= 1000
  ) as v
  order by s.ordinal, v.n;
$$;

comment on function svc.operation_violations(integer, integer, jsonb, bigint[], boolean) is
  'Every schema violation of the named operations, with path, reason and fix.';
