-- The versions of a project, newest first, each with the environments in which it is active.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_config_versions(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_config_versions');
  _before constant integer := svc.decode_cursor('config-versions', list_config_versions.cursor, '^[0-9]{1,9}$')::integer;
begin
  return (
    select svc.page(
      'config-versions', array_agg(r.item order by r.version desc), array_agg(r.version::text order by r.version desc), row_limit
    )
    from (
      select
        v.version,
        json_build_object(
          'version', 'v' || v.version,
          'hash', v.hash,
          'author', v.author,
          'createdAt', svc.iso(v.created_at),
          'provenance', v.provenance,
          'active', (
            select coalesce(json_agg(e.name order by e.name desc), '[]')
            from svc.environments as e
            where e.project_id = v.project_id and e.active_version = v.version
          )
        ) as item
      from svc.config_versions as v
      where v.project_id = _environment.project_id
        and (_before is null or v.version < _before)
      order by v.version desc
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_config_versions(bytea, text, text, text, integer, text) is 'The versions of a project, newest first.';
