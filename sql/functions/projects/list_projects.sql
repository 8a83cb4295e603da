-- The projects of an organization in the order of their slugs, each with the active versions of its environments.
-- Raises what iam.authorize raises, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_projects(token_hash bytea, organization_id text, row_limit integer, "cursor" text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'list_projects');
  _after constant text := coalesce(svc.decode_cursor('projects', list_projects.cursor), '');
begin
  return (
    select svc.page('projects', array_agg(r.item order by r.n), array_agg(r.slug order by r.n), row_limit)
    from (
      select row_number() over (order by p.slug) as n, p.slug, svc.project_document(p) as item
      from svc.projects as p
      where p.organization_id = _actor.organization_id and p.slug > _after
      order by p.slug
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_projects(bytea, text, integer, text) is 'The projects of an organization.';
