-- Makes a link by which the user of a signed-in client also signs a browser in: {email, expiresAt}; null for a token that is not from a
-- sign-in by this client, or no longer valid. Not for headless tokens, which may have fewer permissions than the browser would get.
-- Raises nothing. Locks the token's user, against the end of all its sign-ins meanwhile, and the user's link.
create or replace function svc_api.create_sign_in_link(token_hash bytea, client_id text, link_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id text;
begin
  -- The user first, as in iam.end_sign_ins' callers: either they see this link and delete it, or this sees that the token is revoked.
  perform
  from iam.access_tokens as t
  join iam.users as u on u.user_id = t.user_id
  where t.token_hash = create_sign_in_link.token_hash
  for share of u;

  select t.user_id into _user_id
  from iam.access_tokens as t
  where t.token_hash = create_sign_in_link.token_hash
    and t.kind = 'session'
    and t.client_id = create_sign_in_link.client_id
    and t.expires_at > now()
    and t.revoked_at is null;
  if not found then
    return null;
  end if;
  return iam.make_sign_in_link(_user_id, create_sign_in_link.link_hash);
end;
$$;

comment on function svc_api.create_sign_in_link(bytea, text, bytea) is
  'Makes a link by which the user of a signed-in client signs a browser in.';
