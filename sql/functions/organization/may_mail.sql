-- Whether a link may be mailed to an address for an organization; if so, the mail is counted. Without a limit, a member could send
-- as many mails from the service's mail server as changes are allowed, to one address or to many. An address gets ten mails, of which one
-- comes back every ten minutes; an organization has two hundred, of which one comes back every minute.
-- Raises nothing. Locks the buckets' rows.
create or replace function iam.may_mail(organization_id text, email text)
returns boolean
language sql
volatile
set search_path = ''
return iam.take_attempt('links mailed to ' || may_mail.email, 10, interval '10 minutes') is null
  and iam.take_attempt('links mailed by ' || may_mail.organization_id, 200, interval '1 minute') is null;

comment on function iam.may_mail(text, text) is 'Whether a link may be mailed to an address for an organization.';
