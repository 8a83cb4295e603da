-- Revokes an open invitation: its link becomes invalid at once.
-- Raises what iam.authorize raises, SV004 INVITATION_NOT_FOUND, also for one that was accepted or revoked. Locks its row.
create or replace function svc_api.revoke_invitation(
  token_hash bytea, organization_id text, request_id text, invitation_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'revoke_invitation');
  _invitation iam.invitations;
begin
  update iam.invitations as i
  set revoked_at = now()
  where i.organization_id = revoke_invitation.organization_id
    and i.invitation_id = revoke_invitation.invitation_id
    and i.accepted_at is null
    and i.revoked_at is null
  returning * into _invitation;
  if not found then
    perform svc.raise_not_found(
      'INVITATION_NOT_FOUND', 'open invitation', revoke_invitation.invitation_id, 'in this organization',
      'Check the id; GET /organization/invitations lists those that are open.'
    );
  end if;

  perform iam.record_audit(
    _actor, revoke_invitation.request_id, 'invitation.revoked', null, null, _invitation.invitation_id,
    jsonb_build_object('email', _invitation.email, 'role', _invitation.role)
  );
  return iam.invitation_document(_invitation);
end;
$$;

comment on function svc_api.revoke_invitation(bytea, text, text, text) is 'Revokes an open invitation.';
