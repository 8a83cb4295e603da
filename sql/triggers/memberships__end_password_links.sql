-- Invalidates the open password links of a user who joins an organization: whoever made such a link was authorized for the organizations
-- that the user had then, and the link would open the new one, too. Links made by the operator stay valid for all organizations.
-- Raises nothing. Locks the user's row until the end of the transaction, so that no link is created at the same time.
create or replace function iam.tg_memberships__end_password_links()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform from iam.users as u where u.user_id = new.user_id for no key update;
  update iam.password_links as l
  set used_at = now()
  where l.user_id = new.user_id and l.used_at is null and l.created_by <> 'operator';
  return null;
end;
$$;

comment on function iam.tg_memberships__end_password_links() is 'Invalidates the open password links of a user who joins an organization.';

create or replace trigger _500_end_password_links
after insert on iam.memberships
for each row
execute function iam.tg_memberships__end_password_links();

comment on trigger _500_end_password_links on iam.memberships is
  'Invalidates open password links, which were made for the organizations that the user had before.';
