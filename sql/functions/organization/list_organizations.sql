-- The organizations of a token's user by slug, each with the token's role there; for a headless token only its own. The only operation
-- without an organization, so it looks the token up itself.
-- Raises SV001 INVALID_SESSION, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_organizations(token_hash bytea, row_limit integer, "cursor" text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _token iam.access_tokens;
  _after constant text := coalesce(svc.decode_cursor('organizations', list_organizations.cursor), '');
begin
  select t.* into _token
  from iam.access_tokens as t
  where t.token_hash = list_organizations.token_hash and t.expires_at > now() and t.revoked_at is null;
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_SESSION';
  end if;

  return (
    select svc.page('organizations', array_agg(r.item order by r.slug), array_agg(r.slug order by r.slug), row_limit)
    from (
      select
        o.slug,
        json_build_object(
          'id', o.organization_id,
          'slug', o.slug,
          'role', case when iam.role_rank(_token.role) < iam.role_rank(m.role) then _token.role else m.role end
        ) as item
      from iam.memberships as m
      join iam.organizations as o on o.organization_id = m.organization_id
      where m.user_id = _token.user_id
        and m.organization_id = coalesce(_token.organization_id, m.organization_id)
        and o.slug > _after
      order by o.slug
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_organizations(bytea, integer, text) is 'The organizations for which a token is valid, by slug.';
