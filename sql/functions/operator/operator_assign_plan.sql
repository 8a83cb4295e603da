-- Gives an organization another plan: {organizationId, slug, plan, previousPlan, retentionDays: {from, to}, supersededDays: {from, to}}.
-- Its limits apply from the next request on. Changes nothing if the organization already has the plan.
-- Raises SV004 ORGANIZATION_NOT_FOUND or PLAN_NOT_FOUND. Locks the rows of the plan and the organization.
create or replace function svc_api.operator_assign_plan(organization_slug text, plan_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_assign_plan.organization_slug);
  _plan constant iam.plans := iam.lock_plan(operator_assign_plan.plan_id);
  _previous text;
begin
  select o.plan_id into _previous
  from iam.organizations as o
  where o.organization_id = _organization_id
  for no key update;

  if _previous <> _plan.plan_id then
    update iam.organizations as o set plan_id = _plan.plan_id where o.organization_id = _organization_id;
    perform iam.record_audit(
      iam.operator_actor(_organization_id), null, 'plan.assigned', null, null, _plan.plan_id, jsonb_build_object('previous', _previous)
    );
  end if;
  return json_build_object(
    'organizationId', _organization_id, 'slug', operator_assign_plan.organization_slug, 'plan', _plan.plan_id, 'previousPlan', _previous,
    'retentionDays',
    json_build_object(
      'from', (select p.retention_days from iam.plans as p where p.plan_id = _previous),
      'to', _plan.retention_days
    ),
    'supersededDays',
    json_build_object(
      'from', (select p.superseded_days from iam.plans as p where p.plan_id = _previous),
      'to', _plan.superseded_days
    )
  );
end;
$$;

comment on function svc_api.operator_assign_plan(text, text) is 'Gives an organization another plan; for the operator only.';
