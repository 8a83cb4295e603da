-- Starts a browser session, for 12 hours, in place of the browser's previous one, if any: a client that knew that one is not signed in.
-- Raises 23505 for a hash that is in use, which would be a bug. Locks the session that ends.
create or replace function iam.start_session(user_id text, session_hash bytea, previous_hash bytea)
returns void
language sql
volatile
set search_path = ''
as $$
  delete from iam.sessions as s where s.session_hash = start_session.previous_hash;
  insert into iam.sessions (session_hash, user_id, expires_at)
  values (start_session.session_hash, start_session.user_id, now() + interval '12 hours');
$$;

comment on function iam.start_session(text, bytea, bytea) is 'Starts a browser session and ends the previous one.';
