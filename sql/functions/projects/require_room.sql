-- Refuses another active key, webhook, unfinished recompute, or unfinished preview or backtest of an environment if the plan of its
-- organization allows no more. Counts at most as many as the plan allows.
-- Raises SV009 QUOTA_EXCEEDED. Locks the environment's row until the end of the transaction, so that of two concurrent requests the second
-- counts what the first added; neither ingestion nor evaluation waits for it.
create or replace function svc.require_room(organization_id text, environment_id integer, quota text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _id constant integer := require_room.environment_id;
  _limit constant integer := iam.quota(require_room.organization_id, require_room.quota);
  _used bigint;
begin
  perform from svc.environments as e where e.environment_id = _id for no key update;
  if require_room.quota = 'keys' then
    select count(*) into _used
    from (
      (select from svc.api_keys as k where k.environment_id = _id and k.revoked_at is null limit _limit)
      union all
      (select from svc.api_keys as k where k.environment_id = _id and k.revoked_at > now() limit _limit)
    ) as u;
  elsif require_room.quota = 'webhooks' then
    select count(*) into _used
    from (select from svc.webhooks as w where w.environment_id = _id and w.deleted_at is null limit _limit) as u;
  else
    select count(*) into _used
    from (
      select from svc.recomputes as r
      where r.environment_id = _id
        and r.status in ('queued', 'running', 'retrying')
        and (r.kind in ('preview', 'backtest')) = (require_room.quota = 'previews')
      limit _limit
    ) as u;
  end if;
  perform iam.require_quota(require_room.organization_id, require_room.quota, _used);
end;
$$;

comment on function svc.require_room(text, integer, text) is
  'Refuses another key, webhook, recompute, preview or backtest of an environment beyond the plan; raises QUOTA_EXCEEDED.';
