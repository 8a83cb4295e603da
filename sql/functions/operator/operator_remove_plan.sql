-- Removes a plan that no organization has; answers its document. The default plan of new organizations stays.
-- Raises SV004 PLAN_NOT_FOUND, SV005 PLAN_IN_USE. Locks the plan's row.
create or replace function svc_api.operator_remove_plan(plan_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _plan constant iam.plans := iam.lock_plan(operator_remove_plan.plan_id);
  _document constant json := iam.plan_document(_plan);
  _organization text;
begin
  if _plan.plan_id = 'standard' then
    raise exception using
      errcode = 'SV005',
      message = 'PLAN_IN_USE',
      detail = jsonb_build_object(
        'message', 'New organizations begin with the plan "standard", so it stays.',
        'fix', 'Change its limits with `svc-server plans set standard`.'
      )::text;
  end if;
  begin
    delete from iam.plans as p where p.plan_id = _plan.plan_id;
  exception
    when foreign_key_violation then
      select min(o.slug) into _organization from iam.organizations as o where o.plan_id = _plan.plan_id;
      raise exception using
        errcode = 'SV005',
        message = 'PLAN_IN_USE',
        detail = jsonb_build_object(
          'message', format('The plan "%s" is used by %s organization(s).', _plan.plan_id, _document ->> 'organizationCount'),
          'fix', format('Give each another plan first: `svc-server plans assign %s <plan>`.', _organization)
        )::text;
  end;
  return _document;
end;
$$;

comment on function svc_api.operator_remove_plan(text) is 'Removes a plan that no organization has; for the operator only.';
