-- A headless token in the format of the administrative API: everything but the secret. Its role limits what it may do, null for all that
-- its user may.
-- Raises nothing, locks nothing.
create or replace function iam.token_document(token iam.access_tokens)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'id', token_document.token.token_id,
    'label', token_document.token.label,
    'role', token_document.token.role,
    'user', (
      select json_build_object('id', u.user_id, 'email', u.email)
      from iam.users as u
      where u.user_id = token_document.token.user_id
    ),
    'createdAt', svc.iso(token_document.token.created_at),
    'expiresAt', svc.iso(token_document.token.expires_at),
    'lastUsedAt', svc.iso(token_document.token.last_used_at),
    'revokedAt', svc.iso(token_document.token.revoked_at)
  )
$$;

comment on function iam.token_document(iam.access_tokens) is 'A headless token in the format of the administrative API.';
