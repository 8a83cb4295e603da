create or replace view svc_inspect.trends as
select
  o.slug as organization, p.slug as project, e.name as environment, t.measure, t.day, t.name, t.value, sum(t.count)::bigint as count,
  sum(t.amount) as amount
from svc.all_trend_counts as t
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id
group by o.slug, p.slug, e.name, t.measure, t.day, t.name, t.value
having sum(t.count) <> 0 or sum(t.amount) <> 0;

comment on view svc_inspect.trends is
  'Counts of what changed on each day. Summed up to a day, they give the number of customers in each state. As `svc trends` shows them.';
comment on column svc_inspect.trends.organization is 'Slug of the organization.';
comment on column svc_inspect.trends.project is 'Slug of the project.';
comment on column svc_inspect.trends.environment is 'test or live.';
comment on column svc_inspect.trends.measure is 'lifecycle, health, score, segment, signal, active, operation or delivery.';
comment on column svc_inspect.trends.day is
  'The day, in the time zone of the organization; for active, the first day of the period.';
comment on column svc_inspect.trends.name is
  'lifecycle: state left, or empty; health: band; segment, signal: id; active: the period; operation: event, identify; delivery: webhook.';
comment on column svc_inspect.trends.value is
  'lifecycle: state entered; score: points; segment: entered, exited; signal: raised, cleared; delivery: delivered, failed; others: empty.';
comment on column svc_inspect.trends.count is
  'How many there were; for health and score, the customers that came to have it less those that ceased to.';
comment on column svc_inspect.trends.amount is 'For health and score, the sum of the scores, counted likewise; else 0.';
