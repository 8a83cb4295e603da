-- Operations of the last 30 days whose violations versions that are not strict only counted, if the active version is not strict, another
-- snapshot is, and it declares the violated event, or the traits, as the version that counted: one row for all of them, or none.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_operations(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
as $$
  with declared as materialized (
    select (stranded_operations.snapshot -> 'events')::jsonb as events, (stranded_operations.snapshot -> 'traits')::jsonb as traits
  ),
  -- Once for each version, not for each violation.
  versions as materialized (
    select o.version, (o.snapshot -> 'events')::jsonb as events, (o.snapshot -> 'traits')::jsonb as traits
    from svc.environments as e
    join svc.config_versions as o on o.project_id = e.project_id
    where e.environment_id = stranded_operations.environment_id
      and (stranded_operations.snapshot ->> 'strictSchema')::boolean
      and not (stranded_operations.active ->> 'strictSchema')::boolean
      and o.version = any(array(
        select v.version
        from svc.schema_violations as v
        where v.environment_id = stranded_operations.environment_id and v.last_seen_at > now() - interval '30 days'
      ))
  )
  select
    'VIOLATIONS_COUNTED',
    format(
      'The schema becomes strict, and %s of the last 30 days violated it; the strict schema %s such operations from now on.',
      svc.count_text(sum(v.operations)::bigint, 'operation', 'operations'), svc.strict_schema_verb(stranded_operations.snapshot)
    ),
    'strictSchema'
  from svc.schema_violations as v
  join versions as o on o.version = v.version
  cross join declared as d
  where v.environment_id = stranded_operations.environment_id
    and v.last_seen_at > now() - interval '30 days'
    and case v.event
      when '' then o.traits = d.traits
      else (o.events -> v.event) is not distinct from (d.events -> v.event)
    end
  having count(*) > 0;
$$;

comment on function svc.stranded_operations(integer, json, json) is
  'Violations that were only counted, and that a strict snapshot would not accept.';
