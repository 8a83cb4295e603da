-- Stores a snapshot as the next version of its project and makes it the active one of an environment. Deploying what is active there
-- already says so and changes nothing. The caller validated the snapshot and took the hash of exactly this text.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks the project's row, so that versions are numbered one
-- after the other; neither ingestion nor evaluation waits for it.
create or replace function svc_api.deploy_config(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, snapshot text,
  hash text, provenance jsonb
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    deploy_config.token_hash, deploy_config.organization_id, 'deploy_config', deploy_config.environment_name
  );
  _environment record;
  _version integer;
  _active boolean;
begin
  perform from svc.projects as p
  where p.organization_id = deploy_config.organization_id and p.slug = deploy_config.project_slug
  for no key update;
  -- After the lock, so that it sees what an earlier deploy activated.
  _environment := svc.find_environment(deploy_config.organization_id, deploy_config.project_slug, deploy_config.environment_name);

  select v.version into _version
  from svc.config_versions as v
  where v.project_id = _environment.project_id and v.version = _environment.active_version and v.hash = deploy_config.hash;
  _active := found;

  if not _active then
    insert into svc.config_versions (project_id, version, hash, snapshot, author, provenance)
    select
      _environment.project_id, coalesce(max(v.version), 0) + 1, deploy_config.hash, deploy_config.snapshot::json,
      _actor.email, deploy_config.provenance
    from svc.config_versions as v
    where v.project_id = _environment.project_id
    returning version into _version;

    perform svc.compile_payload_checks(_environment.project_id, _version);

    update svc.environments as e set active_version = _version where e.environment_id = _environment.environment_id;

    insert into svc.config_activations (environment_id, version, previous_version, kind, actor)
    values (_environment.environment_id, _version, _environment.active_version, 'deploy', _actor.email);

    perform iam.record_audit(
      _actor, deploy_config.request_id, 'config.deployed', deploy_config.project_slug, deploy_config.environment_name,
      'v' || _version, null
    );
  end if;

  return json_build_object(
    'version', 'v' || _version,
    'hash', deploy_config.hash,
    'environment', deploy_config.environment_name,
    'activated', not _active,
    'created', not _active
  );
end;
$$;

comment on function svc_api.deploy_config(bytea, text, text, text, text, text, text, jsonb) is
  'Stores a snapshot as the next version and activates it in an environment.';
