create or replace view svc_inspect.config_activations as
select
  p.slug as project, e.name as environment, 'v' || a.version as version, 'v' || a.previous_version as previous_version, a.kind, a.actor,
  a.activated_at, o.slug as organization
from svc.config_activations as a
join svc.environments as e on e.environment_id = a.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.config_activations is 'Which version became active where, when, and who activated it.';
comment on column svc_inspect.config_activations.project is 'Slug of the project.';
comment on column svc_inspect.config_activations.environment is 'test or live.';
comment on column svc_inspect.config_activations.version is 'The version that became active.';
comment on column svc_inspect.config_activations.previous_version is 'The one that was active before.';
comment on column svc_inspect.config_activations.kind is 'deploy, promote or rollback.';
comment on column svc_inspect.config_activations.actor is 'Who activated it.';
comment on column svc_inspect.config_activations.activated_at is 'When it became active.';
comment on column svc_inspect.config_activations.organization is 'Slug of the organization.';
