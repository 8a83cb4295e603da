create or replace view svc.logged_changes as
select
  t.environment_id, t.customer_id, t.generation, 'lifecycle' as measure, t.transitioned_at as changed_at,
  coalesce(t.from_state, '') as name, t.to_state as value, 1 as count, 0::numeric as amount
from svc.lifecycle_transitions as t
union all
select
  h.environment_id, h.customer_id, h.generation, m.measure, h.scored_at, m.name, m.value, s.count, s.count * s.overall
from (
  select
    k.environment_id, k.customer_id, k.generation, k.scored_at, k.band, k.overall,
    lag(k.band) over in_order as former_band, lag(k.overall) over in_order as former_overall
  from svc.health_scores as k
  window in_order as (partition by k.environment_id, k.customer_id, k.generation order by k.score_seq)
) as h
cross join lateral (values (h.band, h.overall, 1), (h.former_band, h.former_overall, -1)) as s (band, overall, count)
cross join lateral (values ('health', s.band, ''), ('score', '', round(s.overall)::text)) as m (measure, name, value)
where s.overall is not null
union all
select
  m.environment_id, m.customer_id, null, m.source, m.emitted_at, m.metadata ->> m.source, split_part(m.event_type, '.', 2), 1, 0
from svc.emissions as m
where m.source in ('segment', 'signal') and m.metadata ->> m.source is not null;

comment on view svc.logged_changes is
  'The logs as svc.trend_counts counts them: transitions and scores of every generation, and emissions of segments and signals.';
comment on column svc.logged_changes.environment_id is 'The environment.';
comment on column svc.logged_changes.customer_id is 'The customer.';
comment on column svc.logged_changes.generation is 'Generation of a transition or score; null for emissions.';
comment on column svc.logged_changes.measure is 'As in svc.trend_counts, like the other columns.';
comment on column svc.logged_changes.changed_at is 'When it changed.';
comment on column svc.logged_changes.name is 'The name.';
comment on column svc.logged_changes.value is 'The value.';
comment on column svc.logged_changes.count is '1; for a score that replaced another one, also a row with -1 for the replaced one.';
comment on column svc.logged_changes.amount is 'The score times the count; 0 for other measures.';
