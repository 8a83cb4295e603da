-- All users by address, each with its organizations and whether it has a password.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_list_users()
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'userId', u.user_id,
        'email', u.email,
        'hasPassword', exists (select from iam.identities as i where i.user_id = u.user_id and i.provider = 'password'),
        'organizations', (
          select coalesce(json_agg(json_build_object('slug', o.slug, 'role', m.role) order by o.slug), '[]')
          from iam.memberships as m
          join iam.organizations as o on o.organization_id = m.organization_id
          where m.user_id = u.user_id
        ),
        'createdAt', svc.iso(u.created_at),
        'emailVerifiedAt', svc.iso(u.email_verified_at)
      )
      order by u.email
    ),
    '[]'
  )
  from iam.users as u
$$;

comment on function svc_api.operator_list_users() is 'All users; for the operator only.';
