-- A project in the format of lists and look-ups: {slug, name, createdAt, environments: {test: {activeVersion, activatedAt}, live: …}}.
-- Raises nothing, locks nothing.
create or replace function svc.project_document(project svc.projects)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'slug', project_document.project.slug,
    'name', project_document.project.name,
    'createdAt', svc.iso(project_document.project.created_at),
    'environments', json_object_agg(
      e.name,
      json_build_object('activeVersion', 'v' || e.active_version, 'activatedAt', svc.iso(a.activated_at))
      order by e.name desc
    )
  )
  from svc.environments as e
  left join lateral (
    select l.activated_at
    from svc.config_activations as l
    where l.environment_id = e.environment_id
    order by l.activation_seq desc
    limit 1
  ) as a on true
  where e.project_id = project_document.project.project_id;
$$;

comment on function svc.project_document(svc.projects) is 'A project with its environments, in the format of lists and look-ups.';
