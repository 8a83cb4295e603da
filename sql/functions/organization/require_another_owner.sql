-- Checks that an organization has an owner besides a user who is about to lose that role. The caller has locked the organization
-- (iam.authorize_exclusively), so the answer stays true.
-- Raises SV005 LAST_OWNER. Locks nothing.
create or replace function iam.require_another_owner(organization_id text, user_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not exists (
    select from iam.memberships as m
    where m.organization_id = require_another_owner.organization_id
      and m.user_id <> require_another_owner.user_id
      and m.role = 'owner'
  ) then
    raise exception using errcode = 'SV005', message = 'LAST_OWNER';
  end if;
end;
$$;

comment on function iam.require_another_owner(text, text) is 'Raises LAST_OWNER if no other owner would remain.';
