-- Parts of the active snapshot that another one removes although customers are in them: states, segments, journeys, signals, health bands,
-- and steps of journeys that stay; and segments and signals that lose their condition, so that only rules can end what customers have of
-- them. Each is counted by index, up to the highest number that svc.count_text distinguishes.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_parts(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
  with removed as (
    select
      p.n, o.ordinality, p.code, p.said, o.part ->> p.id as id, null as journey, format('%s[%s]', p.list, o.ordinality - 1) as path
    from (
      values
        (1, 'lifecycle.states', 'name', 'STATE_REMOVED', 'The lifecycle state "%s" is removed, and %s in it.'),
        (2, 'segments', 'id', 'SEGMENT_REMOVED', 'The segment "%s" is removed, and %s in it.'),
        (3, 'journeys', 'id', 'JOURNEY_REMOVED', 'The journey "%s" is removed, and %s on it.'),
        (4, 'signals', 'id', 'SIGNAL_REMOVED', 'The signal "%s" is removed, and it is raised: %s concerned.'),
        (5, 'health.bands', 'id', 'BAND_REMOVED', 'The health band "%s" is removed, and %s in it.')
    ) as p (n, list, id, code, said)
    cross join lateral json_array_elements(stranded_parts.active #> string_to_array(p.list, '.')) with ordinality as o (part)
    where not exists (
      select from json_array_elements(stranded_parts.snapshot #> string_to_array(p.list, '.')) as n (part)
      where n.part ->> p.id = o.part ->> p.id
    )
    union all
    select
      6, o.ordinality * 1000 + s.ordinality, 'STEP_REMOVED', 'The step "%1$s" of the journey "%3$s" is removed, and %2$s at it.',
      s.part ->> 'id', o.part ->> 'id', format('journeys[%s].steps[%s]', o.ordinality - 1, s.ordinality - 1)
    from json_array_elements(stranded_parts.active -> 'journeys') with ordinality as o (part)
    join json_array_elements(stranded_parts.snapshot -> 'journeys') as n (part) on n.part ->> 'id' = o.part ->> 'id'
    cross join lateral json_array_elements(o.part -> 'steps') with ordinality as s (part)
    where not exists (select from json_array_elements(n.part -> 'steps') as t (part) where t.part ->> 'id' = s.part ->> 'id')
    union all
    select p.n, o.ordinality, p.code, p.said, o.part ->> 'id', null, format('%s[%s]', p.list, o.ordinality - 1)
    from (
      values
        (
          7, 'segments', 'SEGMENT_CONDITION_REMOVED',
          'The segment "%s" loses its condition, and %s in it; only rules can remove them from now on.'
        ),
        (
          8, 'signals', 'SIGNAL_CONDITION_REMOVED',
          'The signal "%s" loses its condition, and it is raised: %s concerned; only rules can clear it from now on.'
        )
    ) as p (n, list, code, said)
    cross join lateral json_array_elements(stranded_parts.active -> p.list) with ordinality as o (part)
    cross join lateral json_array_elements(stranded_parts.snapshot -> p.list) as n (part)
    where n.part ->> 'id' = o.part ->> 'id' and o.part -> 'when' is not null and n.part -> 'when' is null
      -- A signal that ends by itself needs no rule.
      and n.part -> 'for' is null
  )
  select r.code, format(r.said, r.id, svc.count_text(n.amount, 'customer is', 'customers are'), r.journey), r.path
  from removed as r
  cross join lateral (
    select count(*) as amount
    from (
      select 1
      from svc.customers as c
      where r.code = 'STATE_REMOVED' and c.environment_id = stranded_parts.environment_id
        and c.lifecycle = r.id and c.lifecycle is not null
      union all
      select 1
      from svc.segment_memberships as m
      where r.code in ('SEGMENT_REMOVED', 'SEGMENT_CONDITION_REMOVED') and m.environment_id = stranded_parts.environment_id
        and m.segment_id = r.id and m.exited_at is null
      union all
      select 1
      from svc.journey_runs as j
      where r.code = 'JOURNEY_REMOVED' and j.environment_id = stranded_parts.environment_id
        and j.journey_id = r.id and j.status = 'active'
      union all
      select 1
      from svc.signals as s
      where r.code in ('SIGNAL_REMOVED', 'SIGNAL_CONDITION_REMOVED') and s.environment_id = stranded_parts.environment_id
        and s.signal_id = r.id and s.cleared_at is null
      union all
      -- The last condition is always true; it repeats that of the index that has the band.
      select 1
      from svc.customers as c
      where r.code = 'BAND_REMOVED' and c.environment_id = stranded_parts.environment_id
        and c.health_band = r.id and coalesce(c.last_event_at, c.created_at) is not null
      union all
      select 1
      from svc.journey_runs as j
      where r.code = 'STEP_REMOVED' and j.environment_id = stranded_parts.environment_id
        and j.journey_id = r.journey and j.status = 'active' and j.current_step = r.id
      limit 10001
    ) as found
  ) as n
  where n.amount > 0
  order by r.n, r.ordinality;
$$;

comment on function svc.stranded_parts(integer, json, json) is
  'Removed parts that customers are in, and parts that lose their condition.';
