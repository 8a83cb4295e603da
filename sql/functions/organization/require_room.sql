-- Refuses another project, member or token of an organization beyond its plan. Counts at most as many as the plan allows. The caller has
-- locked the organization (iam.authorize_exclusively): of two concurrent requests the second counts what the first added.
-- Raises SV009 QUOTA_EXCEEDED. Locks nothing.
create or replace function iam.require_room(organization_id text, quota text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform iam.require_quota(
    require_room.organization_id, require_room.quota,
    iam.used_of_quota(
      require_room.organization_id, require_room.quota, iam.quota(require_room.organization_id, require_room.quota)
    )
  );
end;
$$;

comment on function iam.require_room(text, text) is 'Refuses another project, member or token beyond the plan; raises QUOTA_EXCEEDED.';
