-- The bucket that counts attempts to sign in: network address and e-mail together, so that nobody can lock another user out, or gain
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

comment on function iam.sign_in_bucket(text, text) is 'The bucket that counts attempts to sign in.';
