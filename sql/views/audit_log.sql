create or replace view svc_inspect.audit_log as
select
  o.slug as organization, a.at, a.actor, a.token_id, a.request_id, a.action, a.project, a.environment, a.target, a.details
from iam.audit_log as a
join iam.organizations as o on o.organization_id = a.organization_id;

comment on view svc_inspect.audit_log is 'Every recorded change, in all organizations.';
comment on column svc_inspect.audit_log.organization is 'Slug of the organization.';
comment on column svc_inspect.audit_log.at is 'When it was done.';
comment on column svc_inspect.audit_log.actor is 'Who did it.';
comment on column svc_inspect.audit_log.token_id is 'The access token used; null if none.';
comment on column svc_inspect.audit_log.request_id is 'Id of the request, as in the log.';
comment on column svc_inspect.audit_log.action is 'The kind of change, for example key.rotated.';
comment on column svc_inspect.audit_log.project is 'Slug of the project, if any.';
comment on column svc_inspect.audit_log.environment is 'test or live, if any.';
comment on column svc_inspect.audit_log.target is 'What was changed.';
comment on column svc_inspect.audit_log.details is 'Further details.';
