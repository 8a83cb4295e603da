-- Refuses one more of what a plan limits if the organization already has as many as its plan allows. `used` need not be counted further.
-- Raises SV009 QUOTA_EXCEEDED. Locks nothing: the caller holds a lock that serializes the counting.
create or replace function iam.require_quota(organization_id text, quota text, used bigint)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  _limit constant integer := iam.quota(require_quota.organization_id, require_quota.quota);
  _larger constant text := 'ask the operator of this service for a larger plan.';
  _what text;
  _room text;
begin
  if require_quota.used < _limit then
    return;
  end if;
  select case when _limit = 1 then w.one else w.many end || ' in ' || w.place, w.room into strict _what, _room
  from (
    values
      ('projects', 'project', 'projects', 'an organization', null),
      (
        'members', 'member or open invitation', 'members and open invitations', 'an organization',
        'Remove a member or revoke an invitation'
      ),
      ('tokens', 'access token', 'access tokens', 'an organization', 'Revoke a token that is not used'),
      ('versions', 'configuration version', 'configuration versions', 'a project', null),
      ('version_bytes', 'byte of configuration versions', 'bytes of configuration versions', 'a project', null),
      ('keys', 'working API key', 'working API keys', 'an environment', 'Revoke a key that is not used'),
      ('webhooks', 'webhook', 'webhooks', 'an environment', 'Delete a webhook that is not used'),
      (
        'recomputes', 'unfinished recompute or dry run', 'unfinished recomputes and dry runs', 'an environment',
        'Wait until one has finished'
      ),
      (
        'previews', 'unfinished preview or backtest', 'unfinished previews and backtests', 'an environment', 'Wait until one has finished'
      ),
      ('changes', 'change by a member', 'changes by a member', 'a minute', 'Wait a minute')
  ) as w (quota, one, many, place, room)
  where w.quota = require_quota.quota;
  raise exception using
    errcode = 'SV009',
    message = 'QUOTA_EXCEEDED',
    detail = jsonb_build_object(
      'message', format('The plan allows %s %s.', _limit, _what),
      'reason', 'That many already exist.',
      'fix', coalesce(_room || ', or ' || _larger, initcap(left(_larger, 1)) || substr(_larger, 2))
    )::text;
end;
$$;

comment on function iam.require_quota(text, text, bigint) is 'Refuses one more of what a plan limits; raises QUOTA_EXCEEDED.';
