-- The part of a version that says how calls of the tracking API become operations: {version, customer, events, declared, traits}, as
-- in src/model/tracking.ts. Without a version nothing is declared.
-- Raises nothing, locks nothing.
create or replace function svc.tracking_model(project_id integer, version integer)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'version', tracking_model.version,
    'customer', coalesce(t.tracking -> 'customer', '["userId"]'),
    'events', coalesce(t.tracking -> 'events', '{}'),
    'declared', c.declared,
    'traits', c.traits
  )
  from (
    select
      coalesce(json_object_agg(k.event, k.names) filter (where k.event <> ''), '{}') as declared,
      coalesce(to_json((array_agg(to_json(k.names)) filter (where k.event = ''))[1]), '[]') as traits
    from svc.payload_checks as k
    where k.project_id = tracking_model.project_id and k.version = tracking_model.version
  ) as c
  left join lateral (
    select v.snapshot -> 'tracking' as tracking
    from svc.config_versions as v
    where v.project_id = tracking_model.project_id and v.version = tracking_model.version
  ) as t on true;
$$;

comment on function svc.tracking_model(integer, integer) is 'How calls of the tracking API become operations under a version.';
