-- Refuses another project, member or token of an organization beyond its plan. Counts at most as many as the plan allows.
-- Raises SV009 QUOTA_EXCEEDED. Locks the organization's row until the end of the transaction, so that of two concurrent requests the second
-- counts what the first added; rows that refer to it can be written meanwhile.
create or replace function iam.require_room(organization_id text, quota text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform from iam.organizations as o where o.organization_id = require_room.organization_id for no key update;
  perform iam.require_quota(
    require_room.organization_id, require_room.quota,
    iam.used_of_quota(
      require_room.organization_id, require_room.quota, iam.quota(require_room.organization_id, require_room.quota)
    )
  );
end;
$$;

comment on function iam.require_room(text, text) is 'Refuses another project, member or token beyond the plan; raises QUOTA_EXCEEDED.';
