-- Revokes a headless token of any organization, with immediate effect. One that was already revoked stays unchanged.
-- Raises SV004 TOKEN_NOT_FOUND. Locks its row.
create or replace function svc_api.operator_revoke_token(token_id text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _token iam.access_tokens;
begin
  select t.* into _token
  from iam.access_tokens as t
  where t.token_id = operator_revoke_token.token_id and t.kind = 'headless'
  for no key update;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'TOKEN_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no headless token "%s".', operator_revoke_token.token_id),
        'fix', '`svc-server tokens list --organization <slug>` shows the tokens of an organization.'
      )::text;
  end if;

  return iam.token_document(iam.end_token(iam.operator_actor(_token.organization_id), null, _token));
end;
$$;

comment on function svc_api.operator_revoke_token(text) is 'Revokes a headless token; for the operator only.';
