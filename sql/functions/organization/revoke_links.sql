-- Invalidates the open links that an owner of an organization made: invitations to it, and links by which its members set their passwords.
-- A user who is about to lose that role could come back by the former, and take over another account by the latter.
-- Answers the addresses of the invitations that were valid until now.
-- Raises nothing. Locks the organization's members (their rows in iam.users, in the order of their ids), so that no link is made for one of
-- them at the same time, then the links.
create or replace function iam.revoke_links(organization_id text, maker_id text)
returns text[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  _maker constant text := (select u.email from iam.users as u where u.user_id = revoke_links.maker_id);
  _invited text[];
begin
  perform from iam.memberships as m
  join iam.users as u on u.user_id = m.user_id
  where m.organization_id = revoke_links.organization_id
  order by u.user_id
  for no key update of u;

  update iam.password_links as l
  set used_at = now()
  from iam.memberships as m
  where m.organization_id = revoke_links.organization_id
    and l.user_id = m.user_id
    and l.created_by = _maker
    and l.used_at is null;
  with revoked as (
    update iam.invitations as i
    set revoked_at = now()
    where i.organization_id = revoke_links.organization_id
      and i.created_by = _maker
      and i.accepted_at is null
      and i.revoked_at is null
    returning i.email, i.expires_at
  )
  select coalesce(array_agg(r.email order by r.email), '{}') into _invited
  from revoked as r
  where r.expires_at > now();
  return _invited;
end;
$$;

comment on function iam.revoke_links(text, text) is 'Invalidates the open links that an owner of an organization made.';
