-- Creates a project with its environments test and live and an ingestion key for each. The caller generated the keys and passes only their
-- SHA-256 and first characters.
-- Raises what iam.authorize and iam.record_audit raise, SV009 QUOTA_EXCEEDED, SV005 SLUG_TAKEN. Locks like iam.authorize_exclusively: a
-- member who is being removed gets no project and no keys.
create or replace function svc_api.create_project(
  token_hash bytea, organization_id text, request_id text, name text, slug text,
  test_key_hash bytea, test_key_hint text, live_key_hash bytea, live_key_hint text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'create_project');
  _project svc.projects;
  _test_id integer;
  _live_id integer;
begin
  perform iam.require_room(create_project.organization_id, 'projects');
  insert into svc.projects (organization_id, slug, name)
  values (create_project.organization_id, create_project.slug, create_project.name)
  on conflict on constraint projects_slug_key do nothing
  returning * into _project;
  if not found then
    raise exception using
      errcode = 'SV005',
      message = 'SLUG_TAKEN',
      detail = jsonb_build_object(
        'message', format('This organization already has a project "%s".', create_project.slug),
        'field', 'slug',
        'value', create_project.slug,
        'fix', 'Choose another slug.'
      )::text;
  end if;

  select e.test_id, e.live_id into _test_id, _live_id from svc.add_environments(_project.project_id) as e;
  perform svc.add_key(_test_id, create_project.test_key_hash, create_project.test_key_hint, 'default', _actor.email);
  perform svc.add_key(_live_id, create_project.live_key_hash, create_project.live_key_hint, 'default', _actor.email);

  perform iam.record_audit(_actor, create_project.request_id, 'project.created', _project.slug, null, _project.slug, null);

  return json_build_object('slug', _project.slug, 'name', _project.name, 'createdAt', svc.iso(_project.created_at));
end;
$$;

comment on function svc_api.create_project(bytea, text, text, text, text, bytea, text, bytea, text) is
  'Creates a project with two environments and a key for each.';
