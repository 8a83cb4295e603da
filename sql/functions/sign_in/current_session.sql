-- The user of a browser session: {userId, email}, or null if the session is unknown, expired or ended.
-- Raises nothing, locks nothing.
create or replace function svc_api.current_session(session_hash bytea)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object('userId', u.user_id, 'email', u.email)
  from iam.sessions as s
  join iam.users as u on u.user_id = s.user_id
  where s.session_hash = current_session.session_hash
    and s.expires_at > now()
$$;

comment on function svc_api.current_session(bytea) is 'The user of a browser session, or null.';
