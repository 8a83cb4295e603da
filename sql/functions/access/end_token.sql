-- Revokes a headless token, with immediate effect, and records that in the audit log. A token that was already revoked stays unchanged.
-- The caller has locked the token's row. Answers the updated token.
-- Raises nothing. Locks nothing more.
create or replace function iam.end_token(actor iam.actor, request_id text, token iam.access_tokens)
returns iam.access_tokens
language plpgsql
volatile
set search_path = ''
as $$
declare
  _token iam.access_tokens := end_token.token;
begin
  if _token.revoked_at is null then
    update iam.access_tokens as t
    set revoked_at = now()
    where t.token_hash = _token.token_hash
    returning t.* into _token;

    perform iam.record_audit(
      end_token.actor, end_token.request_id, 'token.revoked', null, null, _token.token_id,
      jsonb_build_object('label', _token.label)
    );
  end if;
  return _token;
end;
$$;

comment on function iam.end_token(iam.actor, text, iam.access_tokens) is 'Revokes a headless token and records that in the audit log.';
