-- Statistics of a segment's members: how many are in each lifecycle state and health band, the mean of their health scores, how long ago
-- their last events were (those within a day also count as within seven), and how many entered the segment within seven days. Counted in
-- one pass over indexes only; still, its duration is proportional to the number of members.
-- Raises nothing, locks nothing.
create or replace function svc.segment_statistics(environment_id integer, segment_id text)
returns json
language sql
stable
strict
set search_path = ''
set enable_seqscan = off
as $$
  with counted as materialized (
    select
      c.lifecycle, c.health_band, count(*) as members, count(c.health_overall) as scored, sum(c.health_overall) as overall,
      count(*) filter (where c.last_event_at > now() - interval '1 day') as within1d,
      count(*) filter (where c.last_event_at > now() - interval '7 days') as within7d,
      count(*) filter (where c.last_event_at > now() - interval '30 days') as within30d,
      count(*) filter (where c.last_event_at is null) as never,
      count(*) filter (where m.entered_at > now() - interval '7 days') as entered7d
    from svc.segment_memberships as m
    join svc.customers as c on c.environment_id = segment_statistics.environment_id and c.customer_id = m.customer_id
    where m.environment_id = segment_statistics.environment_id
      and m.segment_id = segment_statistics.segment_id
      and m.exited_at is null
      -- Always true; repeats the condition of a partial index so that it can be used.
      and coalesce(c.last_event_at, c.created_at) is not null
    group by c.lifecycle, c.health_band
  )
  select json_build_object(
    'lifecycle', (
      select coalesce(json_object_agg(l.lifecycle, l.members order by l.lifecycle), '{}')
      from (select k.lifecycle, sum(k.members) as members from counted as k where k.lifecycle is not null group by k.lifecycle) as l
    ),
    'health', json_build_object(
      'scored', coalesce(sum(t.scored), 0),
      'average', round(sum(t.overall) / nullif(sum(t.scored), 0), 2),
      'bands', (
        select coalesce(json_object_agg(b.health_band, b.members order by b.health_band), '{}')
        from (select k.health_band, sum(k.members) as members from counted as k where k.health_band is not null group by k.health_band) as b
      )
    ),
    'lastEvent', json_build_object(
      'within1d', coalesce(sum(t.within1d), 0),
      'within7d', coalesce(sum(t.within7d), 0),
      'within30d', coalesce(sum(t.within30d), 0),
      'older', coalesce(sum(t.members - t.within30d - t.never), 0),
      'never', coalesce(sum(t.never), 0)
    ),
    'enteredWithin7d', coalesce(sum(t.entered7d), 0)
  )
  from counted as t;
$$;

comment on function svc.segment_statistics(integer, text) is 'Statistics of a segment''s members.';
