-- One version of a project with its snapshot, byte by byte as it was deployed. latest is the newest version.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_config_version(token_hash bytea, organization_id text, project_slug text, version_name text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'get_config_version');
  _project constant svc.projects := svc.find_project(_actor.organization_id, get_config_version.project_slug);
  _version constant integer := svc.find_version(_project.project_id, get_config_version.version_name, true);
begin
  return (
    select json_build_object(
      'version', 'v' || v.version,
      'hash', v.hash,
      'author', v.author,
      'createdAt', svc.iso(v.created_at),
      'provenance', v.provenance,
      'active', (
        select coalesce(json_agg(e.name order by e.name desc), '[]')
        from svc.environments as e
        where e.project_id = v.project_id and e.active_version = v.version
      ),
      'snapshot', v.snapshot
    )
    from svc.config_versions as v
    where v.project_id = _project.project_id and v.version = _version
  );
end;
$$;

comment on function svc_api.get_config_version(bytea, text, text, text) is 'One version of a project with its snapshot.';
