-- Ends a membership, and revokes the user's headless tokens for this organization and the invitations and
-- password links that the user made as an owner; the audit log lists the invited addresses. The user itself stays, with other
-- memberships.
-- Raises what iam.authorize raises, SV004 MEMBER_NOT_FOUND, SV005 LAST_OWNER. Locks like iam.authorize_exclusively,
-- and for an owner like iam.revoke_links.
create or replace function svc_api.remove_member(token_hash bytea, organization_id text, request_id text, user_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'remove_member');
  _role constant text := iam.require_member(remove_member.organization_id, remove_member.user_id);
  _member constant json := iam.member_document(remove_member.organization_id, remove_member.user_id);
  _tokens text[];
  _invitations text[] := '{}';
begin
  if _role = 'owner' then
    perform iam.require_another_owner(remove_member.organization_id, remove_member.user_id);
    _invitations := iam.revoke_links(remove_member.organization_id, remove_member.user_id);
  end if;

  -- Otherwise they would work again if the user came back.
  with revoked as (
    update iam.access_tokens as t
    set revoked_at = now()
    where t.organization_id = remove_member.organization_id
      and t.user_id = remove_member.user_id
      and t.revoked_at is null
    returning t.token_id
  )
  select coalesce(array_agg(r.token_id order by r.token_id), '{}') into _tokens from revoked as r;

  -- They were made by owners of this organization, who no longer have authority over the user.
  update iam.password_links as l
  set used_at = now()
  where l.user_id = remove_member.user_id and l.used_at is null and l.created_by <> 'operator';

  delete from iam.memberships as m
  where m.organization_id = remove_member.organization_id and m.user_id = remove_member.user_id;

  perform iam.record_audit(
    _actor, remove_member.request_id, 'member.removed', null, null, remove_member.user_id,
    jsonb_build_object(
      'email', _member -> 'email', 'role', _role, 'revokedTokens', _tokens, 'revokedInvitations', _invitations
    )
  );
  return _member;
end;
$$;

comment on function svc_api.remove_member(bytea, text, text, text) is
  'Ends a membership and revokes the user''s headless tokens of the organization.';
