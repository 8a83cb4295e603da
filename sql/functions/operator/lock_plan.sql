-- The plan with a given name, locked against other changes. Requests can read it meanwhile.
-- Raises SV004 PLAN_NOT_FOUND; `fix` is the advice in it. Locks the plan's row.
create or replace function iam.lock_plan(plan_id text, fix text default '`svc-server plans list` shows the plans.')
returns iam.plans
language plpgsql
volatile
set search_path = ''
as $$
declare
  _plan iam.plans;
begin
  select p.* into _plan from iam.plans as p where p.plan_id = lock_plan.plan_id for no key update;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'PLAN_NOT_FOUND',
      detail = jsonb_build_object('message', format('There is no plan "%s".', lock_plan.plan_id), 'fix', lock_plan.fix)::text;
  end if;
  return _plan;
end;
$$;

comment on function iam.lock_plan(text, text) is 'A plan by its name, locked; raises PLAN_NOT_FOUND.';
