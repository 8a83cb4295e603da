-- Makes a link by which the signed-in user sets a password, after the current one was verified; false, without any change, if the
-- session has ended or the password is no longer the one that was verified.
-- Raises nothing. Locks the user's row and then the password, so that it is not changed meanwhile.
create or replace function svc_api.begin_password_change(session_hash bytea, password_hash text, link_hash bytea)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user iam.users;
begin
  -- The user first, as in svc_api.set_password: both for the same user would deadlock otherwise.
  select u.* into _user
  from iam.sessions as s
  join iam.users as u on u.user_id = s.user_id
  where s.session_hash = begin_password_change.session_hash and s.expires_at > now()
  for no key update of u;
  perform from iam.identities as i
  where i.provider = 'password' and i.subject = _user.user_id and i.password_hash = begin_password_change.password_hash
  for share;
  if not found then
    return false;
  end if;
  perform iam.make_password_link(_user.user_id, begin_password_change.link_hash, _user.email);
  return true;
end;
$$;

comment on function svc_api.begin_password_change(bytea, text, bytea) is
  'Makes a link by which the signed-in user sets a password, once the current one was verified.';
