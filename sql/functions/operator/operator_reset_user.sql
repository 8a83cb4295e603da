-- Removes the password of a user and ends all its sessions and tokens of sign-ins, so that only a link made from now on opens the account.
-- Its memberships stay; it is recorded in the audit log of each of its organizations. Does nothing if there is no such user. For the
-- operator: no service role may execute it.
-- Raises nothing. Locks the user's row and all that it ends.
create or replace function svc_api.operator_reset_user(email text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id text;
begin
  select u.user_id into _user_id
  from iam.users as u
  where u.email = lower(btrim(operator_reset_user.email))
  for no key update;
  if not found then
    return;
  end if;
  delete from iam.identities as i where i.user_id = _user_id;
  perform iam.end_sign_ins(_user_id);
  update iam.users as u set email_verified_at = null where u.user_id = _user_id;
  perform iam.record_audit(
    iam.operator_actor(m.organization_id), null, 'user.reset', null, null, _user_id,
    jsonb_build_object('email', lower(btrim(operator_reset_user.email)))
  )
  from iam.memberships as m
  where m.user_id = _user_id;
end;
$$;

comment on function svc_api.operator_reset_user(text) is
  'Removes the password of a user and signs it out everywhere; for the operator only.';
