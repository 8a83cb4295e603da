-- The id of an organization with a given slug.
-- Raises SV004 ORGANIZATION_NOT_FOUND. Locks nothing.
create or replace function iam.organization_of_slug(slug text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  _organization_id text;
begin
  select o.organization_id into _organization_id from iam.organizations as o where o.slug = organization_of_slug.slug;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'ORGANIZATION_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no organization "%s".', organization_of_slug.slug),
        'fix', '`svc-server users list` shows the organizations of every user.'
      )::text;
  end if;
  return _organization_id;
end;
$$;

comment on function iam.organization_of_slug(text) is 'The id of an organization; raises ORGANIZATION_NOT_FOUND.';
