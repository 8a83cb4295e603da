-- The user with an e-mail address, regardless of case.
-- Raises SV004 USER_NOT_FOUND. Locks nothing.
create or replace function iam.user_of_email(email text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  _email constant text := lower(btrim(user_of_email.email));
  _user_id text;
begin
  select u.user_id into _user_id from iam.users as u where u.email = _email;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'USER_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no user "%s".', _email),
        'fix', '`svc-server users list` shows the users; `svc-server bootstrap` makes one.'
      )::text;
  end if;
  return _user_id;
end;
$$;

comment on function iam.user_of_email(text) is 'The user with an e-mail address; raises USER_NOT_FOUND.';
