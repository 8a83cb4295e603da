-- Revokes a headless token of an organization, with immediate effect. One that was already revoked stays unchanged.
-- Raises what iam.authorize raises, SV004 TOKEN_NOT_FOUND. Locks its row.
create or replace function svc_api.revoke_token(token_hash bytea, organization_id text, request_id text, token_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'revoke_token');
  _token iam.access_tokens;
begin
  select t.* into _token
  from iam.access_tokens as t
  where t.organization_id = revoke_token.organization_id and t.token_id = revoke_token.token_id
  for no key update;
  if not found then
    perform svc.raise_not_found(
      'TOKEN_NOT_FOUND', 'token', revoke_token.token_id, 'in this organization', 'Check the id; GET /organization/tokens lists the tokens.'
    );
  end if;

  return iam.token_document(iam.end_token(_actor, revoke_token.request_id, _token));
end;
$$;

comment on function svc_api.revoke_token(bytea, text, text, text) is 'Revokes a headless token of an organization.';
