-- Signs a user out everywhere: browsers, command lines, and approved devices that have not fetched their token; open links that set the
-- user's password or sign it in become invalid. Headless tokens stay: they belong to the organization. The caller has locked the user's
-- row.
-- Raises nothing. Locks the user's links, sessions, tokens and devices.
create or replace function iam.end_sign_ins(user_id text)
returns void
language sql
volatile
set search_path = ''
as $$
  update iam.password_links as l set used_at = now() where l.user_id = end_sign_ins.user_id and l.used_at is null;
  delete from iam.sign_in_links as l where l.user_id = end_sign_ins.user_id;
  delete from iam.sessions as s where s.user_id = end_sign_ins.user_id;
  update iam.access_tokens as t
  set revoked_at = now()
  where t.user_id = end_sign_ins.user_id and t.kind = 'session' and t.revoked_at is null;
  update iam.device_authorizations as d set status = 'denied' where d.user_id = end_sign_ins.user_id and d.status = 'approved';
$$;

comment on function iam.end_sign_ins(text) is 'Signs a user out everywhere and invalidates its open links.';
