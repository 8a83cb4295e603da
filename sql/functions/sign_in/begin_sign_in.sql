-- First half of a sign-in: charges one attempt, then answers whose password to verify: {waitSeconds, userId, passwordHash}. Each pair of
-- e-mail and network address has five attempts, of which one comes back every minute; and each network address has a hundred, one of which
-- comes back every second, so that a client cannot block others with passwords to verify. waitSeconds is the time until the next attempt,
-- null if one was available. An unknown e-mail and a user without a password are charged alike and answered with nulls.
-- Raises nothing. Locks the buckets' rows.
create or replace function svc_api.begin_sign_in(email text, address text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _wait constant interval := coalesce(
    iam.take_attempt('sign-ins from ' || begin_sign_in.address, 100, interval '1 second'),
    iam.take_attempt(iam.sign_in_bucket(begin_sign_in.email, begin_sign_in.address), 5, interval '1 minute')
  );
  _user_id text;
  _password_hash text;
begin
  if _wait is null then
    select i.user_id, i.password_hash into _user_id, _password_hash
    from iam.users as u
    join iam.identities as i on i.provider = 'password' and i.subject = u.user_id
    where u.email = lower(btrim(begin_sign_in.email));
  end if;
  return json_build_object(
    'waitSeconds', ceil(extract(epoch from _wait))::integer, 'userId', _user_id, 'passwordHash', _password_hash
  );
end;
$$;

comment on function svc_api.begin_sign_in(text, text) is
  'Charges an attempt to sign in and answers the password hash to verify, or how long to wait.';
