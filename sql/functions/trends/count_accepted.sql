-- Counts for the trends the operations of accepted batches, and the active customers: each customer once in a day, a week (from Monday) and
-- a month, by its first event of that period. Batches after `after`, up to `through`.
-- Raises nothing, locks nothing; the caller has locked the environment's row of svc.trend_progress, and all batches up to `through` are
-- settled.
create or replace function svc.count_accepted(environment_id integer, after bigint, through bigint)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _id constant integer := count_accepted.environment_id;
  _zone constant text := svc.time_zone_of_environment(_id);
  _first constant bigint := (count_accepted.after + 1) * 1024;
  _end constant bigint := (count_accepted.through + 1) * 1024;
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count)
  select b.environment_id, 'operation', (b.accepted_at at time zone _zone)::date as day, k.name, '', sum(k.count)
  from svc.ingest_batches as b
  cross join lateral (values ('event', b.tracked), ('identify', b.identified)) as k (name, count)
  where b.environment_id = _id and b.batch_seq > count_accepted.after and b.batch_seq <= count_accepted.through
  group by b.environment_id, day, k.name
  having sum(k.count) <> 0;

  insert into svc.trend_changes (environment_id, measure, day, name, value, count)
  with days as materialized (
    select e.customer_id, (e.occurred_at at time zone _zone)::date as day
    from svc.events as e
    where e.environment_id = _id and e.event_seq >= _first and e.event_seq < _end
    group by e.customer_id, day
  ),
  -- When each day, its week and its month begin and end: computed once, however many customers were active.
  spans as materialized (
    select
      d.day, k.name, f.first_day, svc.start_of_day(f.first_day, _zone) as begins_at,
      svc.start_of_day((f.first_day + k.length)::date, _zone) as ends_at
    from (select distinct d.day from days as d) as d
    cross join (values ('day', interval '1 day'), ('week', interval '1 week'), ('month', interval '1 month')) as k (name, length)
    cross join lateral (select date_trunc(k.name, d.day::timestamp)::date as first_day) as f
  ),
  -- A customer already active in the day was also already active in its week and month.
  firsts as materialized (
    select d.customer_id, d.day
    from days as d
    join spans as s on s.day = d.day and s.name = 'day'
    left join lateral (
      select true as is_there
      from svc.events as e
      where e.environment_id = _id and e.customer_id = d.customer_id and e.event_seq < _first
        and e.occurred_at >= s.begins_at and e.occurred_at < s.ends_at
      limit 1
    ) as f on true
    where f.is_there is null
  ),
  periods as materialized (
    select d.customer_id, s.name, s.first_day, s.begins_at, s.ends_at
    from firsts as d
    join spans as s on s.day = d.day and s.name <> 'day'
    group by d.customer_id, s.name, s.first_day, s.begins_at, s.ends_at
  )
  select _id, 'active', d.day, 'day', '', count(*) from firsts as d group by d.day
  union all
  select _id, 'active', p.first_day, p.name, '', count(*)
  from periods as p
  left join lateral (
    select true as is_there
    from svc.events as e
    where e.environment_id = _id and e.customer_id = p.customer_id and e.event_seq < _first
      and e.occurred_at >= p.begins_at and e.occurred_at < p.ends_at
    limit 1
  ) as f on true
  where f.is_there is null
  group by p.name, p.first_day;
end;
$$;

comment on function svc.count_accepted(integer, bigint, bigint) is
  'Counts for the trends the operations of accepted batches, and customers active for the first time in a day, a week or a month.';
