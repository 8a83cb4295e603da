-- Refuses one more project, member or token of an organization beyond its plan. No more is counted than the plan allows.
-- Raises SV009 QUOTA_EXCEEDED. Locks the organization's row until the end of the transaction, so that of two requests at once the second
-- counts what the first made; rows that refer to it can be written meanwhile.
create or replace function iam.require_room(organization_id text, quota text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _id constant text := require_room.organization_id;
  _limit integer;
  _used bigint;
begin
  perform from iam.organizations as o where o.organization_id = _id for no key update;
  _limit := iam.quota(_id, require_room.quota);
  if require_room.quota = 'projects' then
    select count(*) into _used from (select from svc.projects as p where p.organization_id = _id limit _limit) as u;
  elsif require_room.quota = 'members' then
    select count(*) into _used
    from (
      (select from iam.memberships as m where m.organization_id = _id limit _limit)
      union all
      (
        select from iam.invitations as i
        where i.organization_id = _id and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
        limit _limit
      )
    ) as u;
  else
    select count(*) into _used
    from (
      select from iam.access_tokens as t
      where t.organization_id = _id and t.revoked_at is null and t.expires_at > now()
      limit _limit
    ) as u;
  end if;
  perform iam.require_quota(_id, require_room.quota, _used);
end;
$$;

comment on function iam.require_room(text, text) is 'Refuses one more project, member or token beyond the plan; raises QUOTA_EXCEEDED.';
