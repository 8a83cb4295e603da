-- The snapshot of a version, for a worker that does not have it compiled yet.
-- Raises nothing, locks nothing.
create or replace function svc_api.load_snapshot(project_id integer, version integer)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select v.snapshot
  from svc.config_versions as v
  where v.project_id = load_snapshot.project_id and v.version = load_snapshot.version;
$$;

comment on function svc_api.load_snapshot(integer, integer) is 'The snapshot of a configuration version.';
