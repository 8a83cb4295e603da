-- Deletes what sign-ins leave behind: expired sessions and sign-in links; device authorizations an hour after they expired, so that a
-- device that still polls learns of it; other links 30 days after they expired; access tokens 90 days after they expired;
-- throttles that are full again. Answers how many rows it deleted.
-- Raises nothing. Locks the rows it deletes; leaves rows locked by others for the next time.
create or replace function svc_api.sweep_iam()
returns bigint
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _deleted bigint;
begin
  with sessions as (
    delete from iam.sessions as s
    where s.session_hash in (
      select e.session_hash from iam.sessions as e where e.expires_at <= now() for update skip locked
    )
    returning 1
  ), sign_in_links as (
    delete from iam.sign_in_links as l
    where l.link_hash in (
      select e.link_hash from iam.sign_in_links as e where e.expires_at <= now() for update skip locked
    )
    returning 1
  ), device_authorizations as (
    delete from iam.device_authorizations as d
    where d.device_code_hash in (
      select e.device_code_hash
      from iam.device_authorizations as e
      where e.expires_at <= now() - interval '1 hour'
      for update skip locked
    )
    returning 1
  ), invitations as (
    delete from iam.invitations as i
    where i.link_hash in (
      select e.link_hash from iam.invitations as e where e.expires_at <= now() - interval '30 days' for update skip locked
    )
    returning 1
  ), password_links as (
    delete from iam.password_links as l
    where l.link_hash in (
      select e.link_hash from iam.password_links as e where e.expires_at <= now() - interval '30 days' for update skip locked
    )
    returning 1
  ), access_tokens as (
    delete from iam.access_tokens as t
    where t.token_hash in (
      select e.token_hash
      from iam.access_tokens as e
      where e.expires_at <= now() - interval '90 days'
      for update skip locked
    )
    returning 1
  ), throttles as (
    delete from iam.throttles as t
    where t.bucket in (
      select e.bucket from iam.throttles as e where e.full_at <= now() for update skip locked
    )
    returning 1
  )
  select
    (select count(*) from sessions) + (select count(*) from sign_in_links) + (select count(*) from device_authorizations)
      + (select count(*) from invitations)
      + (select count(*) from password_links) + (select count(*) from access_tokens) + (select count(*) from throttles)
  into _deleted;
  return _deleted;
end;
$$;

comment on function svc_api.sweep_iam() is 'Deletes expired sessions, links and tokens, and full throttles.';
