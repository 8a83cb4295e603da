-- The role of a member. A user who belongs only to other organizations counts as not existing.
-- Raises SV004 MEMBER_NOT_FOUND. Locks nothing.
create or replace function iam.require_member(organization_id text, user_id text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  _role text;
begin
  select m.role into _role
  from iam.memberships as m
  where m.organization_id = require_member.organization_id and m.user_id = require_member.user_id;
  if not found then
    perform svc.raise_not_found(
      'MEMBER_NOT_FOUND', 'member', require_member.user_id, 'in this organization',
      'Check the id; GET /organization/members lists the members.'
    );
  end if;
  return _role;
end;
$$;

comment on function iam.require_member(text, text) is 'The role of a member; raises MEMBER_NOT_FOUND.';
