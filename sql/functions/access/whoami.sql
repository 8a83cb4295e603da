-- The user behind a token, and the organization and role.
-- Raises what iam.authorize raises. Locks nothing.
create or replace function svc_api.whoami(token_hash bytea, organization_id text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'whoami');
begin
  return json_build_object(
    'user', json_build_object('email', _actor.email),
    'organization', json_build_object('id', _actor.organization_id, 'slug', _actor.organization_slug, 'role', _actor.role)
  );
end;
$$;

comment on function svc_api.whoami(bytea, text) is 'The user, organization and role behind an access token.';
