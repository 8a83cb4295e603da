-- Makes a link by which whoever signed a client in signs a browser in, too: {email, expiresAt}; null for a token that is not of a sign-in
-- by this client, or is good no more. A headless token makes none: it may be good for less than the browser then is.
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
  'Makes a link by which whoever signed a client in signs a browser in.';
