-- Gives an invitation, or a link by which a user sets a password, a second secret, for the mail alone: the maker of the link sees the first
-- one, so only the use of the second proves access to the mailbox. Knowing the first one is authority enough to call this.
-- Raises 23505 for a hash that is in use, which would be a bug. Locks the link.
create or replace function svc_api.mail_link(link_hash bytea, mailed_hash bytea)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  update iam.invitations as i set mailed_hash = mail_link.mailed_hash where i.link_hash = mail_link.link_hash;
  update iam.password_links as l set mailed_hash = mail_link.mailed_hash where l.link_hash = mail_link.link_hash;
$$;

comment on function svc_api.mail_link(bytea, bytea) is 'Gives a link a second secret, for the mail alone.';
