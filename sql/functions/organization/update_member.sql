-- Gives a member another role. The member's headless tokens are limited by it from the next request on; invitations and password links
-- that the member made as an owner become invalid; the audit log lists the invited addresses.
-- Raises what iam.authorize and iam.record_audit raise, SV004 MEMBER_NOT_FOUND, SV005 LAST_OWNER. Locks like iam.authorize_exclusively, and
-- if an owner loses that role like iam.revoke_links.
create or replace function svc_api.update_member(
  token_hash bytea, organization_id text, request_id text, user_id text, role text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'update_member');
  _before constant text := iam.require_member(update_member.organization_id, update_member.user_id);
  _email constant text := (select u.email from iam.users as u where u.user_id = update_member.user_id);
  _invitations text[];
begin
  if _before = 'owner' and update_member.role <> 'owner' then
    perform iam.require_another_owner(update_member.organization_id, update_member.user_id);
    _invitations := iam.revoke_links(update_member.organization_id, update_member.user_id);
  end if;
  if _before <> update_member.role then
    update iam.memberships as m
    set role = update_member.role
    where m.organization_id = update_member.organization_id and m.user_id = update_member.user_id;

    perform iam.record_audit(
      _actor, update_member.request_id, 'member.role_changed', null, null, update_member.user_id,
      jsonb_strip_nulls(jsonb_build_object(
        'email', _email, 'before', _before, 'after', update_member.role, 'revokedInvitations', _invitations
      ))
    );
  end if;
  return iam.member_document(update_member.organization_id, update_member.user_id);
end;
$$;

comment on function svc_api.update_member(bytea, text, text, text, text) is 'Gives a member another role.';
