-- Operations of the last 30 days whose violations versions that are not strict only counted, if the active version is not strict, another
-- snapshot is, and it declares the violated event, or the traits, as the version that counted: one row for all of them, or none.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_operations(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language plpgsql
stable
set search_path = ''
as $$
declare
  _since constant timestamptz := now() - interval '30 days';
  _declared jsonb;
  _versions integer[];
  -- What each of these versions declares.
  _former jsonb;
begin
  if not (stranded_operations.snapshot ->> 'strictSchema')::boolean or (stranded_operations.active ->> 'strictSchema')::boolean then
    return;
  end if;
  _declared := jsonb_build_object('events', stranded_operations.snapshot -> 'events', 'traits', stranded_operations.snapshot -> 'traits');
  _versions := array(
    select distinct v.version
    from svc.schema_violations as v
    where v.environment_id = stranded_operations.environment_id and v.last_seen_at > _since
  );
  select jsonb_object_agg(o.version, jsonb_build_object('events', o.snapshot -> 'events', 'traits', o.snapshot -> 'traits'))
  into _former
  from svc.environments as e
  join svc.config_versions as o on o.project_id = e.project_id and o.version = any(_versions)
  where e.environment_id = stranded_operations.environment_id;

  return query
  select
    'VIOLATIONS_COUNTED',
    format(
      'The schema becomes strict, and %s of the last 30 days violated it; the strict schema %s such operations from now on.',
      svc.count_text(sum(v.operations)::bigint, 'operation', 'operations'), svc.strict_schema_verb(stranded_operations.snapshot)
    ),
    'strictSchema'
  from svc.schema_violations as v
  where v.environment_id = stranded_operations.environment_id
    and v.last_seen_at > _since
    and case v.event
      when '' then _former -> v.version::text -> 'traits' = _declared -> 'traits'
      else (_former -> v.version::text -> 'events' -> v.event) is not distinct from (_declared -> 'events' -> v.event)
    end
  having count(*) > 0;
end;
$$;

comment on function svc.stranded_operations(integer, json, json) is
  'Violations that were only counted, and that a strict snapshot would not accept.';
