create or replace view svc.all_trend_counts as
select c.environment_id, c.measure, c.day, c.name, c.value, c.count, c.amount
from svc.trend_counts as c
union all
select n.environment_id, n.measure, n.day, n.name, n.value, n.count, n.amount
from svc.trend_changes as n;

comment on view svc.all_trend_counts is 'svc.trend_counts plus the changes not yet added to it: a key can have several rows.';
comment on column svc.all_trend_counts.environment_id is 'The environment.';
comment on column svc.all_trend_counts.measure is 'As in svc.trend_counts, like the other columns.';
comment on column svc.all_trend_counts.day is 'The day.';
comment on column svc.all_trend_counts.name is 'The name.';
comment on column svc.all_trend_counts.value is 'The value.';
comment on column svc.all_trend_counts.count is 'The count.';
comment on column svc.all_trend_counts.amount is 'The sum of the scores.';
