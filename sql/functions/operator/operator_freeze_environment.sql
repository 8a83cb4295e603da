-- Freezes an environment, to export it: {environmentId, frozenAt}. Transactions that begin after this has committed store nothing in it,
-- change nothing of it, evaluate nothing and start no delivery; the caller waits for the end of those that began before
-- (svc_api.operator_changes_under_way). Each call is recorded in the audit log, since all data of customers is about to be exported.
-- Raises SV004 ORGANIZATION_NOT_FOUND or PROJECT_NOT_FOUND, SV005 RECOMPUTE_UNDER_WAY. Locks the environment's row.
create or replace function svc_api.operator_freeze_environment(organization_slug text, project_slug text, environment_name text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_freeze_environment.organization_slug);
  _environment constant record := svc.find_environment(
    _organization_id, operator_freeze_environment.project_slug, operator_freeze_environment.environment_name
  );
  _frozen_at timestamptz;
begin
  -- First, because a request for a recompute holds this row (svc.require_room): it is finished or not yet begun when this looks.
  perform from svc.environments as e where e.environment_id = _environment.environment_id for no key update;
  perform svc.require_finished(_environment.environment_id);
  update svc.environments as e
  set frozen_at = coalesce(e.frozen_at, date_trunc('milliseconds', clock_timestamp()))
  where e.environment_id = _environment.environment_id
  returning e.frozen_at into _frozen_at;
  perform iam.record_audit(
    iam.operator_actor(_organization_id), null, 'environment.exported', operator_freeze_environment.project_slug,
    operator_freeze_environment.environment_name, null, null
  );
  return json_build_object('environmentId', _environment.environment_id, 'frozenAt', svc.iso(_frozen_at));
end;
$$;

comment on function svc_api.operator_freeze_environment(text, text, text) is 'Freezes an environment; for the operator only.';
