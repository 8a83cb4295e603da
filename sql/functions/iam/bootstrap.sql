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
  _organization_is_new boolean;
  _operator iam.actor;
begin
  -- Insert first, then read: of two runs at once both find the row of the one that won.
  insert into iam.users (user_id, email) values (svc.random_id('usr_'), _email) on conflict do nothing;
  select u.user_id into strict _user_id from iam.users as u where u.email = _email;

  insert into iam.organizations (organization_id, slug)
  values (svc.random_id('org_'), bootstrap.organization_slug)
  on conflict do nothing;
  _organization_is_new := found;
  select o.organization_id into strict _organization_id
  from iam.organizations as o
  where o.slug = bootstrap.organization_slug;
  _operator := iam.operator_actor(_organization_id);
  if _organization_is_new then
    perform iam.record_audit(
      _operator, null, 'organization.created', null, null, _organization_id, jsonb_build_object('slug', bootstrap.organization_slug)
    );
  end if;

  insert into iam.memberships (organization_id, user_id, role) values (_organization_id, _user_id, 'owner') on conflict do nothing;
  if found then
    perform iam.record_audit(
      _operator, null, 'member.added', null, null, _user_id, jsonb_build_object('email', _email, 'role', 'owner')
    );
  end if;

  perform iam.add_token(_operator, null, _user_id, null, 'bootstrap', 90, bootstrap.token_hash);
  return json_build_object('organizationId', _organization_id);
end;
$$;

comment on function svc_api.bootstrap(text, text, bytea) is
  'Creates user, organization with owner, and an access token; for the operator only.';
