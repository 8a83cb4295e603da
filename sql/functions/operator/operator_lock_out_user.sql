-- Removes the password of a user and ends all its sessions and tokens, headless ones of every organization too: whoever had the account may
-- have made them. Only a link made from now on opens it. Its memberships stay; the audit log of each of its organizations records it, with
-- the tokens that ended there. Answers the number of headless tokens that were revoked; 0 if there is no such user.
-- Raises nothing. Locks the rows of the user's organizations, like iam.authorize_exclusively, so that no token is made meanwhile; the
-- user's row and all that it ends.
create or replace function svc_api.operator_lock_out_user(email text)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _email constant text := lower(btrim(operator_lock_out_user.email));
  _user_id text;
  _revoked iam.access_tokens[];
begin
  perform from iam.organizations as o
  where o.organization_id in (
    select m.organization_id from iam.memberships as m join iam.users as u on u.user_id = m.user_id where u.email = _email
  )
  order by o.organization_id
  for no key update;
  select u.user_id into _user_id from iam.users as u where u.email = _email for no key update;
  if not found then
    return 0;
  end if;
  delete from iam.identities as i where i.user_id = _user_id;
  perform iam.end_sign_ins(_user_id);
  with revoked as (
    update iam.access_tokens as t
    set revoked_at = now()
    where t.user_id = _user_id and t.kind = 'headless' and t.revoked_at is null
    returning t
  )
  select coalesce(array_agg(r.t), '{}') into _revoked from revoked as r;
  update iam.users as u set email_verified_at = null where u.user_id = _user_id;
  perform iam.record_audit(
    iam.operator_actor(m.organization_id), null, 'user.reset', null, null, _user_id,
    jsonb_build_object(
      'email', _email,
      'revokedTokens', array(
        select r.token_id from unnest(_revoked) as r where r.organization_id = m.organization_id order by r.token_id
      )
    )
  )
  from iam.memberships as m
  where m.user_id = _user_id;
  return cardinality(_revoked);
end;
$$;

comment on function svc_api.operator_lock_out_user(text) is
  'Removes the password of a user and ends all its sessions and tokens; for the operator only.';
