-- Stores a link by which a user sets a password, valid for 24 hours; an open link of the user becomes invalid. Answers when it expires.
-- Raises nothing. Locks the user's row until the end of the transaction, so that of two links made concurrently only one stays valid; rows
-- that refer to it can be written meanwhile.
create or replace function iam.make_password_link(user_id text, link_hash bytea, created_by text)
returns timestamptz
language plpgsql
volatile
set search_path = ''
as $$
declare
  _expires_at constant timestamptz := now() + interval '24 hours';
begin
  perform from iam.users as u
  where u.user_id = make_password_link.user_id
  for no key update;

  update iam.password_links as l
  set used_at = now()
  where l.user_id = make_password_link.user_id and l.used_at is null;

  insert into iam.password_links (link_hash, user_id, created_by, expires_at)
  values (make_password_link.link_hash, make_password_link.user_id, make_password_link.created_by, _expires_at);
  return _expires_at;
end;
$$;

comment on function iam.make_password_link(text, bytea, text) is
  'Stores a link by which a user sets a password; invalidates the previous one.';
