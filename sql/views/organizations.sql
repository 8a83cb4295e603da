create or replace view svc_inspect.organizations as
select
  o.slug as organization, o.plan_id as plan,
  (
    select coalesce(sum(u.month_events), 0)::bigint
    from svc.projects as p
    join svc.environments as e on e.project_id = p.project_id
    join svc.api_keys as k on k.environment_id = e.environment_id
    join svc.key_usage as u on u.key_hash = k.key_hash
    where p.organization_id = o.organization_id and u.month = svc.month_of(now())
  ) as month_events,
  l.monthly_events, l.rate_per_second, l.rate_burst, l.cloud_execution, o.created_at, l.retention_days, l.ai,
  o.time_zone
from iam.organizations as o
join iam.plans as l on l.plan_id = o.plan_id;

comment on view svc_inspect.organizations is 'Organizations, the limits of their plans and what they used.';
comment on column svc_inspect.organizations.organization is 'Slug of the organization.';
comment on column svc_inspect.organizations.plan is 'Its plan.';
comment on column svc_inspect.organizations.month_events is 'Events stored in this calendar month (UTC), by all keys.';
comment on column svc_inspect.organizations.monthly_events is 'Events that the plan allows per month; null for no limit.';
comment on column svc_inspect.organizations.rate_per_second is 'Operations that a key may send per second.';
comment on column svc_inspect.organizations.rate_burst is 'Operations that a key may send at once after a pause.';
comment on column svc_inspect.organizations.cloud_execution is 'Whether the plan includes commands that run in the service.';
comment on column svc_inspect.organizations.created_at is 'When it was created.';
comment on column svc_inspect.organizations.retention_days is 'How many days of 24 hours events are kept; null for ever.';
comment on column svc_inspect.organizations.ai is 'Whether the plan includes commands that ask a language model.';
comment on column svc_inspect.organizations.time_zone is 'The time zone of the days in trends.';
