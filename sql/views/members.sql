create or replace view svc_inspect.members as
select o.slug as organization, u.email, m.role, m.created_at as member_since
from iam.memberships as m
join iam.users as u on u.user_id = m.user_id
join iam.organizations as o on o.organization_id = m.organization_id;

comment on view svc_inspect.members is 'Members of each organization and their roles.';
comment on column svc_inspect.members.organization is 'Slug of the organization.';
comment on column svc_inspect.members.email is 'Address of the user.';
comment on column svc_inspect.members.role is 'owner, administrator, developer or viewer.';
comment on column svc_inspect.members.member_since is 'When the membership began.';
