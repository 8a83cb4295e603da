-- The status of an invitation: open, accepted, revoked or expired.
-- Raises nothing, locks nothing.
create or replace function iam.invitation_status(invitation iam.invitations)
returns text
language sql
stable
set search_path = ''
as $$
  select case
    when invitation_status.invitation.accepted_at is not null then 'accepted'
    when invitation_status.invitation.revoked_at is not null then 'revoked'
    when invitation_status.invitation.expires_at <= now() then 'expired'
    else 'open'
  end
$$;

comment on function iam.invitation_status(iam.invitations) is 'The status of an invitation: open, accepted, revoked or expired.';
