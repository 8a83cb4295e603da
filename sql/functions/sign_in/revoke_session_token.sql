-- Revokes a token that a client was given (RFC 7009), at once: {revoked} tells whether it is revoked now, also where it was before, and
-- for a token that nobody has. False for one that was made for somebody else, which stays good. No organization is concerned, so no audit
-- log has it.
-- Raises nothing. Locks the row of the token.
create or replace function svc_api.revoke_session_token(token_hash bytea, client_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update iam.access_tokens as t
  set revoked_at = now()
  where t.token_hash = revoke_session_token.token_hash
    and t.client_id = revoke_session_token.client_id
    and t.revoked_at is null;

  return json_build_object('revoked', not exists (
    select
    from iam.access_tokens as t
    where t.token_hash = revoke_session_token.token_hash
      and t.expires_at > now()
      and t.revoked_at is null
  ));
end;
$$;

comment on function svc_api.revoke_session_token(bytea, text) is 'Revokes a token that was made for a client.';
