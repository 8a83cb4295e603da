-- Parts of the active snapshot that another one removes although customers are in them: states, segments, journeys, signals, health bands,
-- and steps of journeys that stay; and segments and signals that lose their condition, so that only rules can end what customers have of
-- them. Each is counted by index, up to the highest number that svc.count_text distinguishes.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_parts(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
-- Force index scans, whatever the statistics say, and hashes of lists whose length cannot be known.
set enable_seqscan = off
set enable_nestloop = off
as $$
  with kinds (n, list, id, code, said) as (
    values
      (1, '{lifecycle,states}', 'name', 'STATE_REMOVED', 'The lifecycle state "%s" is removed, and %s in it.'),
      (2, '{segments}', 'id', 'SEGMENT_REMOVED', 'The segment "%s" is removed, and %s in it.'),
      (3, '{journeys}', 'id', 'JOURNEY_REMOVED', 'The journey "%s" is removed, and %s on it.'),
      (4, '{signals}', 'id', 'SIGNAL_REMOVED', 'The signal "%s" is removed, and it is raised: %s concerned.'),
      (5, '{health,bands}', 'id', 'BAND_REMOVED', 'The health band "%s" is removed, and %s in it.')
  ),
  -- Each list is read once, not for each part of the other version.
  olds as materialized (
    select
      k.n, k.code, k.said, o.ordinality, o.part ->> k.id as id, o.part,
      format('%s[%s]', array_to_string(k.list::text[], '.'), o.ordinality - 1) as path
    from kinds as k
    cross join lateral json_array_elements(stranded_parts.active #> k.list::text[]) with ordinality as o (part)
  ),
  news as materialized (
    select k.n, o.part ->> k.id as id, o.part
    from kinds as k
    cross join lateral json_array_elements(stranded_parts.snapshot #> k.list::text[]) as o (part)
  ),
  steps as materialized (
    select n.id as journey, s.part ->> 'id' as id
    from news as n
    cross join lateral json_array_elements(n.part -> 'steps') as s (part)
    where n.n = 3
  ),
  removed as (
    select o.n, o.ordinality, o.code, o.said, o.id, null as journey, o.path
    from olds as o
    where not exists (select from news as n where n.n = o.n and n.id = o.id)
    union all
    select
      6, o.ordinality * 1000 + s.ordinality, 'STEP_REMOVED', 'The step "%1$s" of the journey "%3$s" is removed, and %2$s at it.',
      s.part ->> 'id', o.id, format('%s.steps[%s]', o.path, s.ordinality - 1)
    from olds as o
    join news as n on n.n = o.n and n.id = o.id
    cross join lateral json_array_elements(o.part -> 'steps') with ordinality as s (part)
    where o.n = 3 and not exists (select from steps as t where t.journey = o.id and t.id = s.part ->> 'id')
    union all
    select o.n + 5, o.ordinality, c.code, c.said, o.id, null, o.path
    from olds as o
    join news as n on n.n = o.n and n.id = o.id
    join (
      values
        (
          2, 'SEGMENT_CONDITION_REMOVED',
          'The segment "%s" loses its condition, and %s in it; only rules can remove them from now on.'
        ),
        (
          4, 'SIGNAL_CONDITION_REMOVED',
          'The signal "%s" loses its condition, and it is raised: %s concerned; only rules can clear it from now on.'
        )
    ) as c (n, code, said) on c.n = o.n
    where o.part -> 'when' is not null and n.part -> 'when' is null
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
