-- Makes sure that an organization and its owner exist, and adds an access token of 90 days. A second run adds a token and changes
-- nothing else. For the operator: no service role may execute it.
-- Raises 23514 for a slug or an address of the wrong form, 23505 for a token that is in use. Locks nothing beyond its rows.
create or replace function svc_api.bootstrap(organization_slug text, email text, token_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _email constant text := lower(btrim(bootstrap.email));
  _user_id text;
  _organization_id text;
begin
  -- Insert first, then read: of two runs at once both find the row of the one that won.
  insert into iam.users (user_id, email) values (svc.random_id('usr_'), _email) on conflict do nothing;
  select u.user_id into strict _user_id from iam.users as u where u.email = _email;

  insert into iam.organizations (organization_id, slug)
  values (svc.random_id('org_'), bootstrap.organization_slug)
  on conflict do nothing;
  select o.organization_id into strict _organization_id
  from iam.organizations as o
  where o.slug = bootstrap.organization_slug;

  insert into iam.memberships (organization_id, user_id, role) values (_organization_id, _user_id, 'owner') on conflict do nothing;

  insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, label, expires_at)
  values (
    bootstrap.token_hash, svc.random_id('tok_'), 'headless', _user_id, _organization_id, 'bootstrap', now() + interval '90 days'
  );

  return json_build_object('organizationId', _organization_id);
end;
$$;

comment on function svc_api.bootstrap(text, text, bytea) is
  'Creates user, organization with owner, and an access token; for the operator only.';
