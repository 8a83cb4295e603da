-- Sets a user's password by a link, which is used up with all others of the user, and signs the user out everywhere (iam.end_sign_ins). The
-- address counts as verified if the link was mailed there or the operator made it, but not if the maker of the link may have used it.
-- False, without any change, if the link is not open.
-- Raises nothing. Locks the user, its links, password, sessions, tokens and devices; a concurrent sign-in waits, and then finds that the
-- password has changed.
create or replace function svc_api.set_password(link_hash bytea, password_hash text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id text;
  _is_verified boolean;
begin
  -- The user first: two links of the same user would deadlock otherwise. A link that is made after this is not found below either.
  select u.user_id into _user_id
  from iam.password_links as l
  join iam.users as u on u.user_id = l.user_id
  where l.link_hash = set_password.link_hash or l.mailed_hash = set_password.link_hash
  for no key update of u;
  update iam.password_links as l
  set used_at = now()
  where l.user_id = _user_id and (l.link_hash = set_password.link_hash or l.mailed_hash = set_password.link_hash)
    and l.used_at is null
    and l.expires_at > now()
  returning l.created_by = 'operator' or l.mailed_hash is not distinct from set_password.link_hash into _is_verified;
  if not found then
    return false;
  end if;

  insert into iam.identities as i (provider, subject, user_id, password_hash)
  values ('password', _user_id, _user_id, set_password.password_hash)
  on conflict (provider, subject) do update set password_hash = excluded.password_hash, changed_at = now();

  update iam.users as u set email_verified_at = case when _is_verified then now() end where u.user_id = _user_id;
  perform iam.end_sign_ins(_user_id);
  return true;
end;
$$;

comment on function svc_api.set_password(bytea, text) is 'Sets a password by a link and signs the user out everywhere.';
