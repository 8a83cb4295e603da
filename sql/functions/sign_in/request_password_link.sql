-- Makes a link by which a user sets a password, to be mailed to the user's address and shown to nobody: {waitSeconds, mail: {to,
-- expiresAt}}. Each network address has ten requests, of which one comes back every minute: waitSeconds is the time until the next, null
-- if one was available. mail is null if nothing is to be mailed, which the requester must not learn: no user has the address, or three
-- mails were sent to it, of which one comes back every twenty minutes. The previous link becomes invalid.
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
  -- Charged for every address, so that the answer takes about as long for an unknown one.
  if _wait is null and iam.take_attempt('password mails to ' || _email, 3, interval '20 minutes') is null then
    select u.user_id into _user_id from iam.users as u where u.email = _email;
  end if;
  if _user_id is not null then
    _expires_at := iam.make_password_link(_user_id, request_password_link.link_hash, _email);
    -- Using it proves access to the mailbox.
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
