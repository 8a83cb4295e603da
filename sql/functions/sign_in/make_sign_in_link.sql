-- Stores a link by which a user signs a browser in, valid once and for five minutes, in place of the previous one.
-- Answers {email, expiresAt}.
-- Raises nothing. Locks the user's link.
create or replace function iam.make_sign_in_link(user_id text, link_hash bytea)
returns json
language sql
volatile
set search_path = ''
as $$
  insert into iam.sign_in_links as l (link_hash, user_id, expires_at)
  values (make_sign_in_link.link_hash, make_sign_in_link.user_id, now() + interval '5 minutes')
  on conflict on constraint sign_in_links_user_id_key
  do update set link_hash = excluded.link_hash, created_at = now(), expires_at = excluded.expires_at
  returning json_build_object(
    'email', (select u.email from iam.users as u where u.user_id = l.user_id), 'expiresAt', svc.iso(l.expires_at)
  )
$$;

comment on function iam.make_sign_in_link(text, bytea) is 'Stores a link by which a user signs a browser in.';
