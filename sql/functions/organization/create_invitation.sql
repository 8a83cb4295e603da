-- Invites an address to an organization: {invitation, organization, mayMail}: its slug, and whether the link may be mailed. The caller
-- generated the link, which is valid for 7 days; the link of an open invitation of the same address becomes invalid.
-- Raises what iam.authorize and iam.record_audit raise, SV005 ALREADY_MEMBER, SV009 QUOTA_EXCEEDED. Locks like iam.authorize_exclusively.
create or replace function svc_api.create_invitation(
  token_hash bytea, organization_id text, request_id text, email text, role text, link_hash bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'create_invitation');
  _email constant text := lower(create_invitation.email);
  _replaced text;
  _invitation iam.invitations;
begin
  update iam.invitations as i
  set revoked_at = now()
  where i.organization_id = create_invitation.organization_id
    and i.email = _email
    and i.accepted_at is null
    and i.revoked_at is null
  returning i.invitation_id into _replaced;
  -- After that: it may have waited for somebody who was just accepting the invitation that it replaces.
  if exists (
    select from iam.memberships as m
    join iam.users as u on u.user_id = m.user_id
    where m.organization_id = create_invitation.organization_id and u.email = _email
  ) then
    raise exception using
      errcode = 'SV005',
      message = 'ALREADY_MEMBER',
      detail = jsonb_build_object(
        'message', format('%s is a member of this organization already.', _email), 'field', 'email', 'value', _email
      )::text;
  end if;

  -- After the invitation that it replaces was revoked.
  perform iam.require_room(create_invitation.organization_id, 'members');
  insert into iam.invitations (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
  values (
    create_invitation.organization_id, svc.random_id('inv_'), create_invitation.link_hash, _email, create_invitation.role,
    _actor.email, now() + 7 * interval '24 hours'
  )
  returning * into _invitation;

  perform iam.record_audit(
    _actor, create_invitation.request_id, 'invitation.created', null, null, _invitation.invitation_id,
    jsonb_build_object('email', _email, 'role', create_invitation.role, 'replaced', _replaced)
  );
  return json_build_object(
    'invitation', iam.invitation_document(_invitation), 'organization', _actor.organization_slug,
    'mayMail', iam.may_mail(create_invitation.organization_id, _email)
  );
end;
$$;

comment on function svc_api.create_invitation(bytea, text, text, text, text, bytea) is
  'Invites an address to an organization; replaces its open invitation.';
