-- A member of an organization in the format of the administrative API; null if the user is not a member.
-- Raises nothing, locks nothing.
create or replace function iam.member_document(organization_id text, user_id text)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object('userId', m.user_id, 'email', u.email, 'role', m.role, 'createdAt', svc.iso(m.created_at))
  from iam.memberships as m
  join iam.users as u on u.user_id = m.user_id
  where m.organization_id = member_document.organization_id and m.user_id = member_document.user_id
$$;

comment on function iam.member_document(text, text) is 'A member in the format of the administrative API.';
