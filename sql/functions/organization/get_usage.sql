-- What an organization has used of its plan, and the limits of the plan; null for no limit.
-- Raises what iam.authorize raises. Locks nothing.
create or replace function svc_api.get_usage(token_hash bytea, organization_id text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _id constant text := (iam.authorize(token_hash, organization_id, 'get_usage')).organization_id;
  _month constant date := svc.month_of(now());
begin
  return (
    select json_build_object(
      'plan', p.plan_id,
      'month', to_char(_month, 'YYYY-MM'),
      'resetsAt', svc.iso((_month + interval '1 month') at time zone 'UTC'),
      'used', json_build_object(
        'monthlyEvents', svc.month_events(_id, _month),
        'projects', iam.used_of_quota(_id, 'projects', null),
        'members', iam.used_of_quota(_id, 'members', null),
        'tokens', iam.used_of_quota(_id, 'tokens', null)
      ),
      'limits', iam.plan_document(p)::jsonb - array['plan', 'organizationCount']
    )
    from iam.organizations as o
    join iam.plans as p on p.plan_id = o.plan_id
    where o.organization_id = _id
  );
end;
$$;

comment on function svc_api.get_usage(bytea, text) is 'What an organization has used of its plan, and the limits of the plan.';
