-- Makes a stored version the active one of an environment that svc.lock_environment locked, and records who did it.
-- Raises what iam.record_audit raises. Locks nothing beyond its rows.
create or replace function svc.activate_version(
  actor iam.actor, request_id text, project_slug text, environment_name text,
  environment_id integer, previous_version integer, version integer, kind text
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  update svc.environments as e
  set active_version = activate_version.version
  where e.environment_id = activate_version.environment_id;

  insert into svc.config_activations (environment_id, version, previous_version, kind, actor, activated_at)
  values (
    activate_version.environment_id, activate_version.version, activate_version.previous_version, activate_version.kind,
    -- The clock, not the start of the transaction, which may have waited for another activation.
    activate_version.actor.email, clock_timestamp()
  );

  perform iam.record_audit(
    activate_version.actor,
    activate_version.request_id,
    case activate_version.kind
      when 'deploy' then 'config.deployed' when 'promote' then 'config.promoted' when 'rollback' then 'config.rolled_back'
    end,
    activate_version.project_slug,
    activate_version.environment_name,
    'v' || activate_version.version,
    jsonb_build_object('previousVersion', 'v' || activate_version.previous_version)
  );
end;
$$;

comment on function svc.activate_version(iam.actor, text, text, text, integer, integer, integer, text) is
  'Makes a version the active one of an environment, with log and audit entry.';
