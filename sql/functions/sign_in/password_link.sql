-- The link by which a user sets a password: {status, email}, the status open, used or expired; null if the link never existed.
-- Raises nothing, locks nothing.
create or replace function svc_api.password_link(link_hash bytea)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
    'status', case when l.used_at is not null then 'used' when l.expires_at <= now() then 'expired' else 'open' end,
    'email', u.email
  )
  from iam.password_links as l
  join iam.users as u on u.user_id = l.user_id
  where l.link_hash = password_link.link_hash or l.mailed_hash = password_link.link_hash
$$;

comment on function svc_api.password_link(bytea) is 'The user and the status of a link that sets a password; or null.';
