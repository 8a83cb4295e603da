-- A plan with the slugs of the organizations that have it.
-- Raises SV004 PLAN_NOT_FOUND. Locks the plan's row.
create or replace function svc_api.operator_get_plan(plan_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _plan constant iam.plans := iam.lock_plan(operator_get_plan.plan_id);
begin
  return iam.plan_document(_plan)::jsonb || jsonb_build_object('organizations', (
    select coalesce(jsonb_agg(o.slug order by o.slug), '[]') from iam.organizations as o where o.plan_id = _plan.plan_id
  ));
end;
$$;

comment on function svc_api.operator_get_plan(text) is 'A plan with its organizations; for the operator only.';
