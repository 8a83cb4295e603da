-- Compiles the schema part of a stored version for ingestion: one row per declared event and one, with the empty name, for the traits.
-- Raises nothing, locks nothing beyond its rows.
create or replace function svc.compile_payload_checks(project_id integer, version integer)
returns void
language sql
volatile
set search_path = ''
begin atomic
  insert into svc.payload_checks (project_id, version, event, names, predicate, fields)
  select
    v.project_id, v.version, c.event, array(select k.name from json_object_keys(c.fields::json) as k (name)),
    svc.payload_predicate(c.kind, c.fields), c.fields
  from svc.config_versions as v
  cross join lateral (
    select e.key as event, 'properties' as kind, (e.value -> 'properties')::jsonb as fields
    from json_each(v.snapshot -> 'events') as e
    union all
    select '', 'traits', (v.snapshot -> 'traits')::jsonb
  ) as c
  where v.project_id = compile_payload_checks.project_id and v.version = compile_payload_checks.version;
end;

comment on function svc.compile_payload_checks(integer, integer) is 'Compiles the schema part of a version for ingestion.';
