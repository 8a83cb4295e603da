create or replace view svc_inspect.config_versions as
select
  p.slug as project, 'v' || v.version as version, v.hash, v.author, v.provenance, v.created_at,
  array(
    select e.name from svc.environments as e
    where e.project_id = v.project_id and e.active_version = v.version
    order by e.name desc
  ) as active_in,
  v.snapshot, o.slug as organization
from svc.config_versions as v
join svc.projects as p on p.project_id = v.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.config_versions is 'Deployed versions and where they are active.';
comment on column svc_inspect.config_versions.project is 'Slug of the project.';
comment on column svc_inspect.config_versions.version is 'v1, v2, ….';
comment on column svc_inspect.config_versions.hash is 'SHA-256 of the canonical snapshot.';
comment on column svc_inspect.config_versions.author is 'Who deployed it.';
comment on column svc_inspect.config_versions.provenance is 'Where it was built.';
comment on column svc_inspect.config_versions.created_at is 'When it was deployed.';
comment on column svc_inspect.config_versions.active_in is 'The environments in which it is active.';
comment on column svc_inspect.config_versions.snapshot is 'The compiled model.';
comment on column svc_inspect.config_versions.organization is 'Slug of the organization.';
