-- Accepts an invitation by its link, once. An existing user joins if previous_hash is a session of that user, which continues. For an
-- address without a user it creates one with password_hash, and starts the session session_hash in place of previous_hash. Answers whether
-- the user joined; if not, invitation_of_link shows why. The link alone never opens an existing account, because the inviter knows it, too.
-- Open links that set the user's password are invalidated by a trigger of iam.memberships.
-- Raises nothing. Locks the invitation, so that of two concurrent calls the second finds it accepted.
create or replace function svc_api.accept_invitation(
  link_hash bytea, request_id text, previous_hash bytea, session_hash bytea, password_hash text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _invitation iam.invitations;
  _user_id text;
  _actor iam.actor;
begin
  select i.* into _invitation
  from iam.invitations as i
  where i.link_hash = accept_invitation.link_hash or i.mailed_hash = accept_invitation.link_hash
  for update;
  if not found or iam.invitation_status(_invitation) <> 'open' then
    return false;
  end if;

  if accept_invitation.password_hash is null then
    select u.user_id into _user_id
    from iam.sessions as s
    join iam.users as u on u.user_id = s.user_id
    where s.session_hash = accept_invitation.previous_hash
      and s.expires_at > now()
      and u.email = _invitation.email;
  else
    -- The address may have got a user since the form was shown.
    -- It counts as verified only for the mailed link: the inviter knows the other one, and may have opened it.
    insert into iam.users (user_id, email, email_verified_at)
    values (
      svc.random_id('usr_'), _invitation.email, case when _invitation.mailed_hash = accept_invitation.link_hash then now() end
    )
    on conflict (email) do nothing
    returning user_id into _user_id;
  end if;
  if _user_id is null then
    return false;
  end if;

  insert into iam.memberships (organization_id, user_id, role)
  values (_invitation.organization_id, _user_id, _invitation.role)
  on conflict (organization_id, user_id) do nothing;
  if not found then
    return false;
  end if;
  update iam.invitations as i
  set accepted_at = now()
  where i.organization_id = _invitation.organization_id and i.invitation_id = _invitation.invitation_id;
  if accept_invitation.password_hash is not null then
    insert into iam.identities (provider, subject, user_id, password_hash)
    values ('password', _user_id, _user_id, accept_invitation.password_hash);
    perform iam.start_session(_user_id, accept_invitation.session_hash, accept_invitation.previous_hash);
  end if;

  select _user_id, _invitation.email, _invitation.role, null, o.organization_id, o.slug into _actor
  from iam.organizations as o
  where o.organization_id = _invitation.organization_id;
  perform iam.record_audit(
    _actor, accept_invitation.request_id, 'invitation.accepted', null, null, _invitation.invitation_id,
    jsonb_build_object('role', _invitation.role)
  );
  return true;
end;
$$;

comment on function svc_api.accept_invitation(bytea, text, bytea, bytea, text) is
  'Makes the invited user a member, and creates the user if needed; false if the link does not allow it.';
