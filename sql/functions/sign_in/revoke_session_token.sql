-- Revokes a token of a client (RFC 7009), at once: {revoked} is true if it is revoked now, also if it was before, and
-- for an unknown token. False for a token of another client, which stays valid. No organization is concerned, so it is not in any audit
-- log.
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

comment on function svc_api.revoke_session_token(bytea, text) is 'Revokes a token of a client.';
