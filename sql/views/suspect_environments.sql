create or replace view svc_inspect.suspect_environments as
select
  o.slug as organization, p.slug as project, e.name as environment, s.reason, s.suspected_at, s.customer_limit, s.operation_limit,
  s.tried_by, s.customer_ids, s.failures
from svc.suspect_environments as s
join svc.environments as e on e.environment_id = s.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.suspect_environments is
  'Environments whose evaluation ended without an outcome, for example because the worker crashed. The customer at fault is being sought.';
comment on column svc_inspect.suspect_environments.organization is 'Slug of the organization.';
comment on column svc_inspect.suspect_environments.project is 'Slug of the project.';
comment on column svc_inspect.suspect_environments.environment is 'test or live.';
comment on column svc_inspect.suspect_environments.reason is 'How the last evaluation ended.';
comment on column svc_inspect.suspect_environments.suspected_at is 'When the suspicion began.';
comment on column svc_inspect.suspect_environments.customer_limit is 'Customers per trial; null before the first trial.';
comment on column svc_inspect.suspect_environments.operation_limit is 'Operations per trial; null before the first trial.';
comment on column svc_inspect.suspect_environments.tried_by is 'The worker that runs a trial, or ended during one; null between trials.';
comment on column svc_inspect.suspect_environments.customer_ids is 'The customers in the trial.';
comment on column svc_inspect.suspect_environments.failures is
  'How often in a row a trial of one operation failed; at the third failure its customer is set aside.';
