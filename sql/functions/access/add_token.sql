-- Stores a headless token of a user for the actor's organization and records that in the audit log. The caller has checked that the user
-- is a member. role limits what the token may do; null for all that the user may do.
-- Raises what iam.record_audit raises, 23505 if the token is in use. Locks nothing beyond its row.
create or replace function iam.add_token(
  actor iam.actor, request_id text, user_id text, role text, label text, expires_in_days integer, token_hash bytea
)
returns iam.access_tokens
language plpgsql
volatile
set search_path = ''
as $$
declare
  _token iam.access_tokens;
begin
  insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, role, label, expires_at)
  values (
    add_token.token_hash, svc.random_id('tok_'), 'headless', add_token.user_id, add_token.actor.organization_id,
    add_token.role, add_token.label, now() + make_interval(hours => 24 * add_token.expires_in_days)
  )
  returning * into _token;

  perform iam.record_audit(
    add_token.actor, add_token.request_id, 'token.created', null, null, _token.token_id,
    jsonb_build_object('label', _token.label, 'role', _token.role, 'expiresAt', svc.iso(_token.expires_at))
  );
  return _token;
end;
$$;

comment on function iam.add_token(iam.actor, text, text, text, text, integer, bytea) is
  'Stores a headless token and records that in the audit log.';
