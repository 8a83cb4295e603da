-- The members of an organization by address.
-- Raises what iam.authorize raises, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_members(token_hash bytea, organization_id text, row_limit integer, "cursor" text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'list_members');
  _after constant text := coalesce(svc.decode_cursor('organization-members', list_members.cursor), '');
begin
  return (
    select svc.page('organization-members', array_agg(r.item order by r.email), array_agg(r.email order by r.email), row_limit)
    from (
      select u.email, iam.member_document(m.organization_id, m.user_id) as item
      from iam.memberships as m
      join iam.users as u on u.user_id = m.user_id
      where m.organization_id = _actor.organization_id
        and u.email > _after
      order by u.email
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_members(bytea, text, integer, text) is 'The members of an organization by address.';
