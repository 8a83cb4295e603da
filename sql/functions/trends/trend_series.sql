-- Figures of an environment by period, one row per series: what it counts (metric), of which state, segment, signal, band or webhook
-- (labels), and a value for each period; the periods are consecutive and given by their first days. `what` as in svc_api.get_trends.
-- Changes counted for a day after `today`, for example in an earlier time zone, count as today's, except customers who will be active.
-- Series of customers and members show the end of each period, the others what happened in it. Series that are always 0 are left out.
-- Raises nothing, locks nothing.
create or replace function svc.trend_series(environment_id integer, what text, every text, periods date[], today date)
returns table (place integer, metric text, label text, labels json, "values" bigint[])
language sql
stable
set search_path = ''
as $$
  with
  -- Changes before the first period form a period of their own, without a day.
  changes as materialized (
    select
      case when d.day < trend_series.periods[1] then '-infinity' else date_trunc(trend_series.every, d.day::timestamp)::date end as period,
      c.measure,
      c.name,
      c.value,
      sum(c.count) as count
    from svc.all_trend_counts as c
    cross join lateral (values (least(c.day, trend_series.today))) as d (day)
    where c.environment_id = trend_series.environment_id
      and c.measure = case trend_series.what
        when 'lifecycle' then 'lifecycle'
        when 'flows' then 'lifecycle'
        when 'segments' then 'segment'
        when 'signals' then 'signal'
        when 'operations' then 'operation'
        when 'deliveries' then 'delivery'
        else trend_series.what
      end
      and date_trunc(trend_series.every, d.day::timestamp) <= trend_series.periods[cardinality(trend_series.periods)]
      -- An event that is still to come makes nobody active today.
      and (c.measure <> 'active' or c.name = trend_series.every and c.day <= trend_series.today)
    group by 1, 2, 3, 4
  ),
  -- The effect of each change on each series; numbers that last are carried forward to later periods.
  effects as materialized (
    select c.period, c.count * e.sign as count, e.place, e.metric, e.label, e.former, e.lasts
    from changes as c
    cross join lateral (
      values
        ('lifecycle', 1, 1, 'customers', c.value, '', true),
        ('lifecycle', -1, 1, 'customers', nullif(c.name, ''), '', true),
        ('flows', 1, 1, 'transitions', c.value, c.name, false),
        ('segments', case c.value when 'entered' then 1 else -1 end, 1, 'members', c.name, '', true),
        ('segments', 1, 2, c.value, c.name, '', false),
        ('signals', case c.value when 'raised' then 1 else -1 end, 1, 'customers', c.name, '', true),
        ('signals', 1, 2, c.value, c.name, '', false),
        ('health', 1, 1, 'customers', c.name, '', true),
        ('active', 1, 1, 'customers', '', '', false),
        ('operations', 1, 1, case c.name when 'event' then 'events' else 'identifies' end, '', '', false),
        ('deliveries', 1, 1, c.value, c.name, '', false)
    ) as e (what, sign, place, metric, label, former, lasts)
    where e.what = trend_series.what and e.label is not null and (e.lasts or c.period > '-infinity')
  ),
  figures as (
    select
      e.place, e.metric, e.label, e.former, e.period,
      case when e.lasts then sum(sum(e.count)) over in_time else sum(e.count) end as value
    from (
      select c.place, c.metric, c.label, c.former, c.lasts, c.period, c.count from effects as c
      union all
      -- Add a zero for each series and period, so that each series has each period.
      select s.place, s.metric, s.label, s.former, s.lasts, p.period, 0
      from (select distinct d.place, d.metric, d.label, d.former, d.lasts from effects as d) as s
      cross join unnest(trend_series.periods) as p (period)
    ) as e
    group by e.place, e.metric, e.label, e.former, e.lasts, e.period
    window in_time as (partition by e.place, e.metric, e.label, e.former order by e.period)
  )
  select
    f.place, f.metric, f.label,
    case trend_series.what
      when 'lifecycle' then json_build_object('state', f.label)
      when 'flows' then json_build_object('from', nullif(f.former, ''), 'to', f.label)
      when 'segments' then json_build_object('segment', f.label)
      when 'signals' then json_build_object('signal', f.label)
      when 'health' then json_build_object('band', f.label)
      when 'deliveries' then json_build_object('webhookId', f.label)
      else '{}'
    end,
    array_agg(f.value::bigint order by f.period)
  from figures as f
  where f.period > '-infinity'
  group by f.place, f.metric, f.label, f.former
  having bool_or(f.value <> 0)
$$;

comment on function svc.trend_series(integer, text, text, date[], date) is 'Figures of an environment by period, one row per series.';
