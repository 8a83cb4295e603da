-- The limit of a quota in the plan of an organization; quota is the column of iam.plans.
-- Raises nothing, locks nothing.
create or replace function iam.quota(organization_id text, quota text)
returns integer
language sql
stable
set search_path = ''
as $$
  select (to_jsonb(p) ->> quota.quota)::integer
  from iam.organizations as o
  join iam.plans as p on p.plan_id = o.plan_id
  where o.organization_id = quota.organization_id
$$;

comment on function iam.quota(text, text) is 'The limit of a quota in the plan of an organization.';
