-- Makes a link by which the user of a signed-in client also signs a browser in: {email, expiresAt}; null for a token that is not from a
-- sign-in by this client, or no longer valid. Not for headless tokens, which may have fewer permissions than the browser would get.
-- Raises nothing. Locks the user's link.
create or replace function svc_api.create_sign_in_link(token_hash bytea, client_id text, link_hash bytea)
returns json
language sql
volatile
security definer
set search_path = ''
as $$
  select iam.make_sign_in_link(t.user_id, create_sign_in_link.link_hash)
  from iam.access_tokens as t
  where t.token_hash = create_sign_in_link.token_hash
    and t.kind = 'session'
    and t.client_id = create_sign_in_link.client_id
    and t.expires_at > now()
    and t.revoked_at is null
$$;

comment on function svc_api.create_sign_in_link(bytea, text, bytea) is
  'Makes a link by which the user of a signed-in client signs a browser in.';
