-- Makes a link by which a member sets a password, valid for 24 hours: {email, expiresAt, mayMail}. The caller generated
-- the link; an open one of the user becomes invalid. The link lets its holder become the user everywhere, so the token or session must be
-- an owner's in all organizations of the user.
-- Raises what iam.authorize and iam.record_audit raise, SV004 MEMBER_NOT_FOUND, SV003 FORBIDDEN. Locks like iam.authorize_exclusively, and
-- the user's row.
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
  _email text;
  _expires_at timestamptz;
begin
  perform iam.require_member(create_password_reset.organization_id, create_password_reset.user_id);

  -- Serializes with transactions that make the user a member of another organization.
  perform from iam.users as u where u.user_id = create_password_reset.user_id for no key update;
  if exists (
    select from iam.memberships as m
    where m.user_id = create_password_reset.user_id
      and not exists (
        select from iam.memberships as own
        where own.user_id = _actor.user_id
          and own.organization_id = m.organization_id
          and own.role = 'owner'
          -- A browser session has no token and is valid for all organizations.
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
  return json_build_object(
    'email', _email, 'expiresAt', svc.iso(_expires_at), 'mayMail', iam.may_mail(create_password_reset.organization_id, _email)
  );
end;
$$;

comment on function svc_api.create_password_reset(bytea, text, text, text, bytea) is
  'Makes a link by which a member sets a password.';
