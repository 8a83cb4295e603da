-- Activates a stored version: the common part of promote and rollback. It must have been active before in the environment
-- proven_in; a version that is already active is answered without a change.
-- Raises what iam.record_audit raises, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND, SV005 VERSION_CONFLICT and CONFIG_WARNINGS. Locks the
-- project's row.
create or replace function svc.activate_former_version(
  actor iam.actor, request_id text, project_slug text, environment_name text,
  version_name text, kind text, proven_in text, expected integer, force boolean
)
returns json
language plpgsql
volatile
set search_path = ''
as $$
declare
  _environment constant record := svc.lock_environment(
    (actor).organization_id, project_slug, environment_name
  );
  _version constant integer := svc.find_version(_environment.project_id, activate_former_version.version_name);
  _activated constant boolean := _version is distinct from _environment.active_version;
  _hash text;
  _snapshot json;
  _warnings jsonb := '[]';
begin
  select v.hash, v.snapshot into strict _hash, _snapshot
  from svc.config_versions as v
  where v.project_id = _environment.project_id and v.version = _version;

  if _activated then
    if not exists (
      select from svc.environments as e
      join svc.config_activations as a on a.environment_id = e.environment_id
      where e.project_id = _environment.project_id and e.name = activate_former_version.proven_in and a.version = _version
    ) then
      raise exception using
        errcode = 'SV005',
        message = 'VERSION_CONFLICT',
        detail = jsonb_build_object(
          'message', format('v%s was never active in %s.', _version, activate_former_version.proven_in),
          'fix', case activate_former_version.kind
            when 'promote' then 'Deploy the model to test first, then promote its version.'
            else 'Choose a version of the activation log of this environment; promote brings a version of test to live.'
          end
        )::text;
    end if;
    perform svc.require_active_version(
      activate_former_version.environment_name, _environment.active_version, activate_former_version.expected
    );
    _warnings := svc.require_force(_environment.environment_id, _snapshot, activate_former_version.force);
    perform svc.activate_version(
      activate_former_version.actor, activate_former_version.request_id, activate_former_version.project_slug,
      activate_former_version.environment_name, _environment.environment_id, _environment.active_version, _version,
      activate_former_version.kind
    );
  end if;

  return json_build_object(
    'version', 'v' || _version,
    'hash', _hash,
    'environment', activate_former_version.environment_name,
    'activated', _activated,
    'warnings', _warnings,
    'hasCustomers', svc.has_customers(_environment.environment_id)
  );
end;
$$;

comment on function svc.activate_former_version(iam.actor, text, text, text, text, text, text, integer, boolean) is
  'Activates a stored version: the common part of promote and rollback.';
