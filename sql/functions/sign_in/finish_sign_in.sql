-- Second half of a sign-in, after the password was verified: starts the session in place of previous_hash and returns the attempts.
-- False, without any change, if the password is no longer the one that was verified: changing it ended all sessions, and this one must
-- not begin after that.
-- Raises nothing. Locks the password, so that it is not changed meanwhile.
create or replace function svc_api.finish_sign_in(
  email text, address text, user_id text, password_hash text, session_hash bytea, previous_hash bytea
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform from iam.identities as i
  where i.provider = 'password'
    and i.subject = finish_sign_in.user_id
    and i.password_hash = finish_sign_in.password_hash
  for share;
  if not found then
    return false;
  end if;

  perform iam.start_session(finish_sign_in.user_id, finish_sign_in.session_hash, finish_sign_in.previous_hash);
  delete from iam.throttles as t
  where t.bucket = iam.bucket_hash(iam.sign_in_bucket(finish_sign_in.email, finish_sign_in.address));
  return true;
end;
$$;

comment on function svc_api.finish_sign_in(text, text, text, text, bytea, bytea) is
  'Starts the session of a user whose password was verified, unless it was changed meanwhile.';
