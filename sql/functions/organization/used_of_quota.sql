-- The number of projects, members (with open invitations) or valid access tokens of an organization; counted up to `count_max`, unless
-- that is null.
-- Raises nothing, locks nothing.
create or replace function iam.used_of_quota(organization_id text, quota text, count_max integer)
returns bigint
language sql
stable
set search_path = ''
as $$
  select count(*)
  from (
    (
      select from svc.projects as p
      where used_of_quota.quota = 'projects' and p.organization_id = used_of_quota.organization_id
      limit used_of_quota.count_max
    )
    union all
    (
      select from iam.memberships as m
      where used_of_quota.quota = 'members' and m.organization_id = used_of_quota.organization_id
      limit used_of_quota.count_max
    )
    union all
    (
      select from iam.invitations as i
      where used_of_quota.quota = 'members' and i.organization_id = used_of_quota.organization_id
        and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
      limit used_of_quota.count_max
    )
    union all
    (
      select from iam.access_tokens as t
      where used_of_quota.quota = 'tokens' and t.organization_id = used_of_quota.organization_id
        and t.revoked_at is null and t.expires_at > now()
      limit used_of_quota.count_max
    )
  ) as u
$$;

comment on function iam.used_of_quota(text, text, integer) is
  'The number of projects, members or access tokens of an organization, counted up to a maximum.';
