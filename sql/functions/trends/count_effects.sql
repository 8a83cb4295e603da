-- Counts for the trends what evaluations of customers came to: transitions, changes of scores, and what is told of segments and signals,
-- as svc.logged_changes reads the logs. The arrays are those that svc.write_effects and svc_api.apply_evaluation take, null where there is
-- nothing, before they are written: the score that the first of a customer follows is the last that is stored.
-- Raises nothing, locks nothing.
create or replace function svc.count_effects(environment_id integer, transitions json, health_scores json, emissions json)
returns void
language plpgsql
volatile
set search_path = ''
-- By key, whatever the statistics say, as in apply_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  -- On a cluster, what is written on another node gives a transaction no number here, by which svc_api.count_trends waits for it.
  _xact constant xid8 := pg_current_xact_id();
  _zone constant text := svc.time_zone_of_environment(count_effects.environment_id);
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count, amount)
  with scores as materialized (
    select
      r."customerId" as customer_id, coalesce(r.generation, 0) as generation, r.at, r.band, r.overall, r.n,
      lag(r.n) over in_order as former, lag(r.band) over in_order as former_band, lag(r.overall) over in_order as former_overall
    from rows from (json_to_recordset(count_effects.health_scores) as (
      "customerId" text, overall numeric, band text, at bigint, generation integer
    )) with ordinality as r ("customerId", overall, band, at, generation, n)
    window in_order as (partition by r."customerId" order by r.n)
  ),
  -- Each with what it follows, which counts one less; what is no score counts nothing.
  scored as (
    select s.at, k.band, k.overall, k.count
    from scores as s
    left join lateral (
      select h.band, h.overall
      from svc.health_scores as h
      where h.environment_id = count_effects.environment_id and h.customer_id = s.customer_id and h.generation = s.generation
        and s.former is null
      order by h.score_seq desc
      limit 1
    ) as f on true
    cross join lateral (
      values (s.band, s.overall, 1), (coalesce(s.former_band, f.band), coalesce(s.former_overall, f.overall), -1)
    ) as k (band, overall, count)
    where k.overall is not null
  ),
  changes as (
    select 'lifecycle' as measure, r.at, coalesce(r."from", '') as name, r."to" as value, 1 as count, 0::numeric as amount
    from json_to_recordset(count_effects.transitions) as r ("from" text, "to" text, at bigint)
    union all
    select m.measure, s.at, m.name, m.value, s.count, s.count * s.overall
    from scored as s
    cross join lateral (values ('health', s.band, ''), ('score', '', round(s.overall)::text)) as m (measure, name, value)
    union all
    select r.source, r.at, r.metadata ->> r.source, split_part(r.type, '.', 2), 1, 0
    from json_to_recordset(count_effects.emissions) as r (type text, source text, metadata json, at bigint)
    where r.source in ('segment', 'signal') and r.metadata ->> r.source is not null
  )
  select
    h.environment_id, c.measure, ((timestamptz 'epoch' + c.at * interval '1 millisecond') at time zone _zone)::date as day,
    c.name, c.value, sum(c.count), sum(c.amount)
  from svc.homes as h
  cross join changes as c
  where h.environment_id = count_effects.environment_id
  group by h.environment_id, c.measure, day, c.name, c.value
  having sum(c.count) <> 0 or sum(c.amount) <> 0;
end;
$$;

comment on function svc.count_effects(integer, json, json, json) is 'Counts for the trends what evaluations of customers came to.';
