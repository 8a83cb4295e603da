-- All plans by name.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_list_plans()
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(json_agg(iam.plan_document(p) order by p.plan_id), '[]') from iam.plans as p
$$;

comment on function svc_api.operator_list_plans() is 'All plans; for the operator only.';
