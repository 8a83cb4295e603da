-- Makes a link by which a member sets a password, good for 24 hours: {email, expiresAt}. The caller made the link; an open one of the
-- user stops. Whoever holds the link can become the user everywhere, so it is only made for a user all of whose organizations the token
-- or session is an owner's of.
-- Raises what iam.authorize raises, SV004 MEMBER_NOT_FOUND, SV003 FORBIDDEN. Locks as iam.authorize_exclusively, and the user's row.
create or replace function svc_api.create_password_reset(
  token_hash bytea, organization_id text, request_id text, user_id text, link_hash bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'create_password_reset');
  _role constant text := iam.require_member(create_password_reset.organization_id, create_password_reset.user_id);
  _email text;
  _expires_at timestamptz;
begin
  -- Whoever makes the user a member of another organization waits, or is waited for.
  perform from iam.users as u where u.user_id = create_password_reset.user_id for no key update;
  if exists (
    select from iam.memberships as m
    where m.user_id = create_password_reset.user_id
      and not exists (
        select from iam.memberships as own
        where own.user_id = _actor.user_id
          and own.organization_id = m.organization_id
          and own.role = 'owner'
          -- A browser's session has no token, and is good for all of them.
          and (_actor.token_id is null or exists (
            select from iam.access_tokens as t
            where t.token_id = _actor.token_id and coalesce(t.organization_id, m.organization_id) = m.organization_id
          ))
      )
  ) then
    raise exception using
      errcode = 'SV003',
      message = 'FORBIDDEN',
      detail = jsonb_build_object(
        'message', 'You may not make a link to set this member''s password.',
        'reason', format(
          'The member also belongs to an organization that %s; the link would open that one, too.',
          case when _actor.token_id is null then 'you are not an owner of' else 'this token is not an owner''s of' end
        ),
        'fix', 'Ask the operator of this service, who can make such a link for everybody.'
      )::text;
  end if;

  _expires_at := iam.make_password_link(create_password_reset.user_id, create_password_reset.link_hash, _actor.email);
  select u.email into strict _email from iam.users as u where u.user_id = create_password_reset.user_id;
  perform iam.record_audit(
    _actor, create_password_reset.request_id, 'password_reset.created', null, null, create_password_reset.user_id,
    jsonb_build_object('email', _email)
  );
  return json_build_object('email', _email, 'expiresAt', svc.iso(_expires_at));
end;
$$;

comment on function svc_api.create_password_reset(bytea, text, text, text, bytea) is
  'Makes a link by which a member sets a password.';
