create or replace view svc_inspect.health_scores as
select
  p.slug as project, e.name as environment, t.customer_id, t.overall, t.components, t.band, t.scored_at, t.cause_type, t.cause_id,
  'v' || t.config_version as config_version, t.score_seq, o.slug as organization
from svc.health_scores as t
-- A recompute replaces a customer's history: only rows of the current generation count.
join svc.customers as c
  on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.health_scores is 'Changes of health scores in each customer''s current history.';
comment on column svc_inspect.health_scores.project is 'Slug of the project.';
comment on column svc_inspect.health_scores.environment is 'test or live.';
comment on column svc_inspect.health_scores.customer_id is 'The customer.';
comment on column svc_inspect.health_scores.overall is
  'Weighted mean of the components, 0 to 100; null if none of them is known.';
comment on column svc_inspect.health_scores.components is 'The score of each known component, 0 to 100.';
comment on column svc_inspect.health_scores.band is 'The band of the overall score; null if there is none.';
comment on column svc_inspect.health_scores.scored_at is 'The instant of the change.';
comment on column svc_inspect.health_scores.cause_type is 'event, identify, timer or job.';
comment on column svc_inspect.health_scores.cause_id is 'Id of the event or job.';
comment on column svc_inspect.health_scores.config_version is 'The version it was evaluated under.';
comment on column svc_inspect.health_scores.score_seq is 'Order of the scores of a customer.';
comment on column svc_inspect.health_scores.organization is 'Slug of the organization.';
