-- Records when an access token was last used, at most every five minutes, however many processes and requests there are.
-- Raises nothing. Locks the token's row only when it writes it.
create or replace function svc_api.touch_token(token_hash bytea)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  update iam.access_tokens as t
  set last_used_at = now()
  where t.token_hash = touch_token.token_hash
    and (t.last_used_at is null or t.last_used_at <= now() - interval '5 minutes')
$$;

comment on function svc_api.touch_token(bytea) is 'Records that an access token was used, at most every five minutes.';
