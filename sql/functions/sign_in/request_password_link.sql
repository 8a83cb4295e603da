-- Makes a link by which a user sets a password, to be mailed to the user's address and to be seen by nobody else: {waitSeconds, mail: {to,
-- expiresAt}}. Ten requests from one network address, one comes back every minute: waitSeconds says how long until the next, and is null
-- where there was one. mail is null where nothing is to be mailed, of which whoever asked must not learn: no user has the address, or three
-- mails went to it, of which one comes back every twenty minutes. The link before stops.
-- Raises nothing. Locks the buckets' rows and the user's.
create or replace function svc_api.request_password_link(email text, address text, link_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _wait constant interval := iam.take_attempt('password mails from ' || request_password_link.address, 10, interval '1 minute');
  _email constant text := lower(btrim(request_password_link.email));
  _user_id text;
  _expires_at timestamptz;
begin
  -- Counted of any address, so that one of nobody takes about as long.
  if _wait is null and iam.take_attempt('password mails to ' || _email, 3, interval '20 minutes') is null then
    select u.user_id into _user_id from iam.users as u where u.email = _email;
  end if;
  if _user_id is not null then
    _expires_at := iam.make_password_link(_user_id, request_password_link.link_hash, _email);
    -- Whoever uses it has read the mail.
    update iam.password_links as l
    set mailed_hash = request_password_link.link_hash
    where l.link_hash = request_password_link.link_hash;
  end if;
  return json_build_object(
    'waitSeconds', ceil(extract(epoch from _wait))::integer,
    'mail', case when _expires_at is not null then json_build_object('to', _email, 'expiresAt', svc.iso(_expires_at)) end
  );
end;
$$;

comment on function svc_api.request_password_link(text, text, bytea) is 'Makes a link by which a user sets a password, to be mailed.';
