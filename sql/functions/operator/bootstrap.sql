-- Makes sure that an organization and its owner exist, and adds an access token for 90 days: {organizationId, joined}. A second run adds a
-- token and changes nothing else. joined lists the organizations of an existing user who became a member now; otherwise it is null. Anyone
-- who invites an address and opens the link gets a user with that address: such a user is not made an owner, only one whose address is
-- verified or who cannot sign in.
-- Raises SV005 USER_NOT_VERIFIED, 23514 for an invalid slug or address, 23505 if the token is in use. Locks the user's
-- row, so that no password is set meanwhile.
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
  _user_is_new boolean;
  _organizations text;
  _joined text;
  _operator iam.actor;
begin
  -- Insert first, then read: of two concurrent runs both find the row of the one that won.
  insert into iam.users (user_id, email) values (svc.random_id('usr_'), _email) on conflict do nothing;
  _user_is_new := found;
  select u.user_id into strict _user_id from iam.users as u where u.email = _email for no key update;

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

  select coalesce(string_agg(format('%s (%s)', o.slug, m.role), ', ' order by o.slug), 'none') into _organizations
  from iam.memberships as m
  join iam.organizations as o on o.organization_id = m.organization_id
  where m.user_id = _user_id;
  insert into iam.memberships (organization_id, user_id, role) values (_organization_id, _user_id, 'owner') on conflict do nothing;
  if found then
    if exists (
      select from iam.users as u
      join iam.identities as i on i.user_id = u.user_id
      where u.user_id = _user_id and u.email_verified_at is null
    ) then
      raise exception using
        errcode = 'SV005',
        message = 'USER_NOT_VERIFIED',
        detail = jsonb_build_object(
          'message', format(
            'A user "%s" already exists, in the organizations: %s. Its password may have been set by someone else.', _email, _organizations
          ),
          'fix', format(
            'Ask the user. To remove its password and sign it out everywhere, add --reset-user; then `svc-server users link --email %s` '
            'makes a link to set a new one.',
            _email
          )
        )::text;
    end if;
    if not _user_is_new then
      _joined := _organizations;
    end if;
    perform iam.record_audit(
      _operator, null, 'member.added', null, null, _user_id, jsonb_build_object('email', _email, 'role', 'owner')
    );
  end if;

  perform iam.add_token(_operator, null, _user_id, null, 'bootstrap', 90, bootstrap.token_hash);
  return json_build_object('organizationId', _organization_id, 'joined', _joined);
end;
$$;

comment on function svc_api.bootstrap(text, text, bytea) is
  'Creates user, organization with owner, and an access token; for the operator only.';
