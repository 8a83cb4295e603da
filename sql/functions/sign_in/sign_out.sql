-- Ends a browser session; does nothing if it has already ended.
-- Raises nothing. Locks the session.
create or replace function svc_api.sign_out(session_hash bytea)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  delete from iam.sessions as s where s.session_hash = sign_out.session_hash
$$;

comment on function svc_api.sign_out(bytea) is 'Ends a browser session.';
