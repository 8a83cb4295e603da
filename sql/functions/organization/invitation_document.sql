-- An invitation in the format of the administrative API: everything but the link, which only its maker has.
-- Raises nothing, locks nothing.
create or replace function iam.invitation_document(invitation iam.invitations)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'id', invitation_document.invitation.invitation_id,
    'email', invitation_document.invitation.email,
    'role', invitation_document.invitation.role,
    'createdBy', invitation_document.invitation.created_by,
    'createdAt', svc.iso(invitation_document.invitation.created_at),
    'expiresAt', svc.iso(invitation_document.invitation.expires_at)
  )
$$;

comment on function iam.invitation_document(iam.invitations) is 'An invitation in the format of the administrative API.';
