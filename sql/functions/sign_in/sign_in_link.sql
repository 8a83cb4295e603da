-- The user whom a link signs in: {email}; null if the link never existed, was used, replaced or has expired.
-- Raises nothing, locks nothing.
create or replace function svc_api.sign_in_link(link_hash bytea)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object('email', u.email)
  from iam.sign_in_links as l
  join iam.users as u on u.user_id = l.user_id
  where l.link_hash = sign_in_link.link_hash and l.expires_at > now()
$$;

comment on function svc_api.sign_in_link(bytea) is 'The user whom a link signs in, or null.';
