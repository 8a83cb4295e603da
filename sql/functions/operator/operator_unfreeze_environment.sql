-- Unfreezes an environment: {frozenAt}, when it had been frozen, or null if it was not. Waiting operations and deliveries are processed
-- from now on.
-- Raises SV004 ORGANIZATION_NOT_FOUND or PROJECT_NOT_FOUND. Locks the environment's row.
create or replace function svc_api.operator_unfreeze_environment(organization_slug text, project_slug text, environment_name text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_unfreeze_environment.organization_slug);
  _environment constant record := svc.find_environment(
    _organization_id, operator_unfreeze_environment.project_slug, operator_unfreeze_environment.environment_name
  );
  _before timestamptz;
begin
  select e.frozen_at into _before from svc.environments as e where e.environment_id = _environment.environment_id for no key update;
  if _before is not null then
    update svc.environments as e set frozen_at = null where e.environment_id = _environment.environment_id;
    perform iam.record_audit(
      iam.operator_actor(_organization_id), null, 'environment.unfrozen', operator_unfreeze_environment.project_slug,
      operator_unfreeze_environment.environment_name, null, null
    );
    perform svc.request_evaluation(array[_environment.environment_id]);
  end if;
  return json_build_object('frozenAt', svc.iso(_before));
end;
$$;

comment on function svc_api.operator_unfreeze_environment(text, text, text) is 'Unfreezes an environment; for the operator only.';
