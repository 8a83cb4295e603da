-- Stops the open links that an owner of an organization made: invitations to it, and links by which its members set their passwords.
-- Whoever is about to be no owner any more could come back by the ones, and become somebody else by the others.
-- Raises nothing. Locks the organization's members (their rows in iam.users, in the order of their ids), so that no link is being made for
-- one of them at the same time, then the links.
create or replace function iam.withdraw_links(organization_id text, maker_id text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _maker constant text := (select u.email from iam.users as u where u.user_id = withdraw_links.maker_id);
begin
  perform from iam.memberships as m
  join iam.users as u on u.user_id = m.user_id
  where m.organization_id = withdraw_links.organization_id
  order by u.user_id
  for no key update of u;

  update iam.password_links as l
  set used_at = now()
  from iam.memberships as m
  where m.organization_id = withdraw_links.organization_id
    and l.user_id = m.user_id
    and l.created_by = _maker
    and l.used_at is null;
  update iam.invitations as i
  set revoked_at = now()
  where i.organization_id = withdraw_links.organization_id
    and i.created_by = _maker
    and i.accepted_at is null
    and i.revoked_at is null;
end;
$$;

comment on function iam.withdraw_links(text, text) is 'Stops the open links that an owner of an organization made.';
