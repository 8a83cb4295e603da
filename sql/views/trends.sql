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
  'What changed on each day, counted; sums over the days tell how many customers stood where. As svc trends tells it.';
comment on column svc_inspect.trends.organization is 'Slug of the organization.';
comment on column svc_inspect.trends.project is 'Slug of the project.';
comment on column svc_inspect.trends.environment is 'test or live.';
comment on column svc_inspect.trends.measure is 'lifecycle, health, score, segment, signal, active, operation or delivery.';
comment on column svc_inspect.trends.day is
  'The day, in the time zone of the organization; of active customers the first day of the period.';
comment on column svc_inspect.trends.name is
  'lifecycle: the state left, empty for none; health: the band; segment, signal: which; active: day, week or month; operation: event or
identify; delivery: the webhook.';
comment on column svc_inspect.trends.value is
  'lifecycle: the state entered; score: in whole points; segment: entered or exited; signal: raised or cleared; delivery: delivered or
failed; else empty.';
comment on column svc_inspect.trends.count is
  'How many there were; of bands and scores how many customers came to have it less how many ceased to.';
comment on column svc_inspect.trends.amount is 'Of bands and scores the sum of the scores, counted alike; else 0.';
