-- The frame of a page of the console: {email, organizations: [slug], organization: {id, slug, role, timeZone}, projects: [{slug,
-- name}], project, environment, activeVersion, operations: [those that the user may perform]}. organization defaults to the user's first
-- one, preferably with projects; project to the first one. organization and project are null if there is none.
-- Raises SV001 INVALID_SESSION, SV004 ORGANIZATION_NOT_FOUND and PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.open_console(
  session_hash bytea, organization_slug text, project_slug text, environment_name text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _user iam.users;
  _organization iam.organizations;
  _role text;
  _project svc.projects;
begin
  select u.* into _user
  from iam.sessions as s
  join iam.users as u on u.user_id = s.user_id
  where s.session_hash = open_console.session_hash and s.expires_at > now();
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_SESSION';
  end if;

  select o.organization_id, o.slug, o.plan_id, o.time_zone, m.role
  into _organization.organization_id, _organization.slug, _organization.plan_id, _organization.time_zone, _role
  from iam.memberships as m
  join iam.organizations as o on o.organization_id = m.organization_id
  where m.user_id = _user.user_id and o.slug = coalesce(open_console.organization_slug, o.slug)
  order by exists (select from svc.projects as p where p.organization_id = o.organization_id) desc, o.slug
  limit 1;
  if not found and open_console.organization_slug is not null then
    raise exception using errcode = 'SV004', message = 'ORGANIZATION_NOT_FOUND';
  end if;

  if open_console.project_slug is not null then
    _project := svc.find_project(_organization.organization_id, open_console.project_slug);
  else
    select p.* into _project
    from svc.projects as p
    where p.organization_id = _organization.organization_id
    order by p.slug
    limit 1;
  end if;

  return json_build_object(
    'email', _user.email,
    'organizations', (
      select coalesce(json_agg(n.slug order by n.slug), '[]')
      from (
        select o.slug
        from iam.memberships as m
        join iam.organizations as o on o.organization_id = m.organization_id
        where m.user_id = _user.user_id
        order by o.slug
        limit 100
      ) as n
    ),
    'organization', case when _organization.organization_id is not null then json_build_object(
      'id', _organization.organization_id, 'slug', _organization.slug, 'role', _role, 'timeZone', _organization.time_zone
    ) end,
    'projects', (
      select coalesce(json_agg(json_build_object('slug', n.slug, 'name', n.name) order by n.slug), '[]')
      from (
        select p.slug, p.name
        from svc.projects as p
        where p.organization_id = _organization.organization_id
        order by p.slug
        limit 100
      ) as n
    ),
    'project', _project.slug,
    'environment', open_console.environment_name,
    'activeVersion', (
      select 'v' || e.active_version
      from svc.environments as e
      where e.project_id = _project.project_id and e.name = open_console.environment_name
    ),
    'operations', (
      select coalesce(json_agg(r.operation), '[]')
      from iam.operations() as r
      join iam.plans as p on p.plan_id = _organization.plan_id
      where iam.role_rank(_role) >= iam.role_rank(
          case when open_console.environment_name = 'live' then r.role_live else r.role_test end
        )
        and case r.entitlement when 'cloud_execution' then p.cloud_execution when 'ai' then p.ai else true end
    )
  );
end;
$$;

comment on function svc_api.open_console(bytea, text, text, text) is 'The frame of a page of the console.';
