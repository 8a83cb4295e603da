-- The invitation of a link, for the holder of the link: {status, organization, email, role, invitedBy, isUser, isMember}, or null if the
-- link never existed. isUser: a user with that address exists and has to sign in; isMember: this user already belongs to the organization.
-- Raises nothing, locks nothing.
create or replace function svc_api.invitation_of_link(link_hash bytea)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
    'status', iam.invitation_status(i),
    'organization', o.slug,
    'email', i.email,
    'role', i.role,
    'invitedBy', i.created_by,
    'isUser', u.user_id is not null,
    'isMember', m.user_id is not null
  )
  from iam.invitations as i
  join iam.organizations as o on o.organization_id = i.organization_id
  left join iam.users as u on u.email = i.email
  left join iam.memberships as m on m.organization_id = i.organization_id and m.user_id = u.user_id
  where i.link_hash = invitation_of_link.link_hash or i.mailed_hash = invitation_of_link.link_hash
$$;

comment on function svc_api.invitation_of_link(bytea) is 'The invitation of a link, or null.';
