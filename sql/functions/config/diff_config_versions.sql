-- The two versions to compare, {from: {version, snapshot}, to: {version, snapshot}}. from defaults to the version before to, and is
-- null if to is the first one; to defaults to the newest.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND. Locks nothing.
create or replace function svc_api.diff_config_versions(
  token_hash bytea, organization_id text, project_slug text, from_version text, to_version text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'diff_config_versions');
  _project constant svc.projects := svc.find_project(_actor.organization_id, diff_config_versions.project_slug);
  _to constant integer := svc.find_version(_project.project_id, coalesce(diff_config_versions.to_version, 'latest'), true);
  _from constant integer := case
    when diff_config_versions.from_version is not null
      then svc.find_version(_project.project_id, diff_config_versions.from_version, true)
    else nullif(_to - 1, 0)
  end;
begin
  return (
    select json_build_object(
      'from', case when f.version is not null then json_build_object('version', 'v' || f.version, 'snapshot', f.snapshot) end,
      'to', json_build_object('version', 'v' || t.version, 'snapshot', t.snapshot)
    )
    from svc.config_versions as t
    left join svc.config_versions as f on f.project_id = t.project_id and f.version = _from
    where t.project_id = _project.project_id and t.version = _to
  );
end;
$$;

comment on function svc_api.diff_config_versions(bytea, text, text, text, text) is 'The two versions to compare.';
