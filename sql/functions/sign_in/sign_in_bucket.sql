-- What attempts to sign in are counted by: network address and e-mail together, so that nobody can lock another out, and nobody has more
-- attempts by writing an address in capitals.
-- Raises nothing, locks nothing.
create or replace function iam.sign_in_bucket(email text, address text)
returns text
language sql
immutable
parallel safe
set search_path = ''
as $$
  select format('sign-in %s %s', sign_in_bucket.address, lower(btrim(sign_in_bucket.email)))
$$;

comment on function iam.sign_in_bucket(text, text) is 'The throttle that an attempt to sign in is counted by.';
