-- Signs a browser in by a link, which is used up; the session replaces the browser's previous one. False, without any change, if the
-- link is no longer valid.
-- Raises nothing. Locks the link.
create or replace function svc_api.use_sign_in_link(link_hash bytea, session_hash bytea, previous_hash bytea)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id text;
begin
  delete from iam.sign_in_links as l
  where l.link_hash = use_sign_in_link.link_hash and l.expires_at > now()
  returning l.user_id into _user_id;
  if not found then
    return false;
  end if;
  perform iam.start_session(_user_id, use_sign_in_link.session_hash, use_sign_in_link.previous_hash);
  return true;
end;
$$;

comment on function svc_api.use_sign_in_link(bytea, bytea, bytea) is 'Signs a browser in by a link, once.';
