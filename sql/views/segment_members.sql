create or replace view svc_inspect.segment_members as
select p.slug as project, e.name as environment, m.segment_id as segment, m.customer_id, m.entered_at, o.slug as organization
from svc.segment_memberships as m
join svc.environments as e on e.environment_id = m.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
where m.exited_at is null;

comment on view svc_inspect.segment_members is 'Current members of each segment.';
comment on column svc_inspect.segment_members.project is 'Slug of the project.';
comment on column svc_inspect.segment_members.environment is 'test or live.';
comment on column svc_inspect.segment_members.segment is 'The segment.';
comment on column svc_inspect.segment_members.customer_id is 'The customer.';
comment on column svc_inspect.segment_members.entered_at is 'When the customer entered.';
comment on column svc_inspect.segment_members.organization is 'Slug of the organization.';
