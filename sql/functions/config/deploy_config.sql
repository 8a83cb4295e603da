-- Stores a snapshot as the next version of its project and makes it the active one of an environment. If it is already active there, the
-- answer says so and nothing changes. The caller validated the snapshot and computed the hash of exactly this text. expected is the version
-- that must be active, 0 for none, null for any; force ignores warnings about data.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV005 VERSION_CONFLICT and CONFIG_WARNINGS, SV009
-- QUOTA_EXCEEDED. Locks the project's row, so that versions are numbered one after the other; neither ingestion nor evaluation waits for
-- it.
create or replace function svc_api.deploy_config(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, snapshot text,
  hash text, provenance jsonb, expected integer default null, force boolean default false
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'deploy_config', environment_name);
  _environment constant record := svc.lock_environment(organization_id, project_slug, environment_name);
  _version integer;
  _active boolean;
  _warnings jsonb := '[]';
begin
  select v.version into _version
  from svc.config_versions as v
  where v.project_id = _environment.project_id and v.version = _environment.active_version and v.hash = deploy_config.hash;
  _active := found;

  if not _active then
    perform svc.require_active_version(deploy_config.environment_name, _environment.active_version, deploy_config.expected);
    _warnings := svc.require_force(_environment.environment_id, deploy_config.snapshot::json, deploy_config.force);

    -- Versions are numbered without gaps and never removed, so the last number is their count.
    perform iam.require_quota(
      deploy_config.organization_id, 'versions',
      (select coalesce(max(v.version), 0) from svc.config_versions as v where v.project_id = _environment.project_id)
    );
    perform iam.require_quota(
      deploy_config.organization_id, 'version_bytes',
      -- In their stored, compressed size, for which they need not be read.
      (
        select coalesce(sum(pg_column_size(v.snapshot)), 0)::bigint
        from svc.config_versions as v
        where v.project_id = _environment.project_id
      )
    );
    insert into svc.config_versions (project_id, version, hash, snapshot, author, provenance)
    select
      _environment.project_id, coalesce(max(v.version), 0) + 1, deploy_config.hash, deploy_config.snapshot::json,
      _actor.email, deploy_config.provenance
    from svc.config_versions as v
    where v.project_id = _environment.project_id
    returning version into _version;

    perform svc.compile_payload_checks(_environment.project_id, _version);

    perform svc.activate_version(
      _actor, deploy_config.request_id, deploy_config.project_slug, deploy_config.environment_name,
      _environment.environment_id, _environment.active_version, _version, 'deploy'
    );
  end if;

  return json_build_object(
    'version', 'v' || _version,
    'hash', deploy_config.hash,
    'environment', deploy_config.environment_name,
    'activated', not _active,
    'created', not _active,
    'warnings', _warnings,
    'hasCustomers', svc.has_customers(_environment.environment_id)
  );
end;
$$;

comment on function svc_api.deploy_config(bytea, text, text, text, text, text, text, jsonb, integer, boolean) is
  'Stores a snapshot as the next version and activates it in an environment.';
