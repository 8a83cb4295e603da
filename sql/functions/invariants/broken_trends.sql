-- Differences between the trends of an environment and its logs, once its history was counted. Active customers, operations and
-- deliveries are not compared: the rows that were counted may have been removed.
-- Raises nothing, locks nothing.
create or replace function svc.broken_trends()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with counted as materialized (
    select p.environment_id, o.time_zone
    from svc.trend_progress as p
    join svc.environments as e on e.environment_id = p.environment_id
    join svc.projects as j on j.project_id = e.project_id
    join iam.organizations as o on o.organization_id = j.organization_id
    where p.outdated_since is null
  ),
  sums as (
    select
      c.environment_id, l.measure, (l.changed_at at time zone c.time_zone)::date as day, l.name, l.value, l.count::bigint as logged,
      0::bigint as counted, l.amount
    from counted as c
    join svc.logged_changes as l on l.environment_id = c.environment_id
    join svc.customers as k
      on k.environment_id = l.environment_id and k.customer_id = l.customer_id and k.generation = coalesce(l.generation, k.generation)
    union all
    select t.environment_id, t.measure, t.day, t.name, t.value, 0, t.count, -t.amount
    from counted as c
    join svc.all_trend_counts as t on t.environment_id = c.environment_id
    where t.measure in ('lifecycle', 'health', 'score', 'segment', 'signal')
  )
  select
    'trends_are_what_was_logged', s.environment_id,
    format(
      '%s of %s, %s to %s: %s counted, %s logged', s.measure, to_char(s.day, 'YYYY-MM-DD'), coalesce(nullif(s.name, ''), 'nothing'),
      s.value, sum(s.counted), sum(s.logged)
    )
  from sums as s
  group by s.environment_id, s.measure, s.day, s.name, s.value
  having sum(s.counted) <> sum(s.logged) or sum(s.amount) <> 0
$$;

comment on function svc.broken_trends() is 'Invariants: trends.';
