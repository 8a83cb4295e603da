-- Makes the trends of an environment equal to its logs, in one statement: adds what the logs have and the counts lack, and subtracts the
-- opposite. with_deliveries: also those of deliveries, some of which are removed over time.
-- Raises nothing, locks nothing; the caller has locked the environment's row of svc.trend_progress.
create or replace function svc.recount_trends(environment_id integer, with_deliveries boolean)
returns void
language plpgsql
volatile
set search_path = ''
set jit = off
-- Sums of some million rows for a few thousand days and names.
set work_mem = '64MB'
as $$
declare
  _zone constant text := svc.time_zone_of_environment(recount_trends.environment_id);
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count, amount)
  with logged as (
    select l.environment_id, l.measure, (l.changed_at at time zone _zone)::date as day, l.name, l.value, l.count::bigint as count, l.amount
    from svc.logged_changes as l
    join svc.customers as c on c.environment_id = recount_trends.environment_id and c.customer_id = l.customer_id
    where l.environment_id = recount_trends.environment_id and coalesce(l.generation, c.generation) = c.generation
    union all
    select d.environment_id, 'delivery', (d.finished_at at time zone _zone)::date, d.webhook_id, d.status, 1, 0
    from svc.deliveries as d
    where d.environment_id = recount_trends.environment_id and d.finished_at is not null and recount_trends.with_deliveries
    union all
    select t.environment_id, t.measure, t.day, t.name, t.value, -t.count, -t.amount
    from svc.all_trend_counts as t
    where t.environment_id = recount_trends.environment_id
      and (
        t.measure in ('lifecycle', 'health', 'score', 'segment', 'signal')
        or t.measure = 'delivery' and recount_trends.with_deliveries
      )
  )
  select l.environment_id, l.measure, l.day, l.name, l.value, sum(l.count), sum(l.amount)
  from logged as l
  group by l.environment_id, l.measure, l.day, l.name, l.value
  having sum(l.count) <> 0 or sum(l.amount) <> 0;
end;
$$;

comment on function svc.recount_trends(integer, boolean) is 'Makes the trends of an environment equal to its logs.';
