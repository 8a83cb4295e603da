-- Events that another snapshot removes although some are stored, if its schema is strict or the active one reads them; properties that it
-- removes although recent events have them, or requires although they lack them, under a strict schema; and properties whose type or
-- values change although stored ones do not conform. Reads at most the newest 10,000 events of a name, by index, and one more of a removed
-- one.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_events(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
  with models as materialized (
    -- Parsed once, not for each event and property.
    select
      (stranded_events.active -> 'events')::jsonb as active_events,
      (stranded_events.snapshot -> 'events')::jsonb as events,
      (stranded_events.snapshot ->> 'strictSchema')::boolean as is_strict
  ),
  narrowed as materialized (
    select o.key as event, p.key as name, p.is_required as required
    from models as m
    cross join lateral jsonb_each(m.active_events) as o
    join lateral jsonb_each(m.events) as t on t.key = o.key
    cross join lateral (
      select a.key, true as is_required
      from jsonb_each(t.value -> 'properties') as a
      where not coalesce((a.value ->> 'optional')::boolean, false)
        and coalesce((o.value -> 'properties' -> a.key ->> 'optional')::boolean, not o.value -> 'properties' ? a.key)
      union all
      select b.key, false
      from jsonb_each(o.value -> 'properties') as b
      where not t.value -> 'properties' ? b.key
    ) as p
    where m.is_strict
  ),
  recent as materialized (
    select g.event, n.amount
    from (select distinct f.event from narrowed as f where f.required) as g
    cross join lateral (
      select count(*) as amount
      from (
        select from svc.events as e
        where e.environment_id = stranded_events.environment_id and e.event = g.event and e.event <> ''
          and e.occurred_at > now() - interval '30 days'
        limit 10000
      ) as newest
    ) as n
  ),
  -- Events are read once, not for each of their properties. If many are concerned, only those that an event has are looked for.
  present as materialized (
    select g.event, n.name, n.amount
    from (select f.event, array_agg(f.name) as names from narrowed as f group by f.event) as g
    cross join lateral (
      select k.name, count(*) as amount
      from (
        select e.properties
        from svc.events as e
        where e.environment_id = stranded_events.environment_id and e.event = g.event and e.event <> ''
          and e.occurred_at > now() - interval '30 days'
        order by e.occurred_at desc, e.event_seq desc
        limit 10000
      ) as newest
      cross join lateral unnest(
        case when cardinality(g.names) <= 16 then g.names else array(select jsonb_object_keys(newest.properties)) end
      ) as k (name)
      where newest.properties ? k.name
      group by k.name
    ) as n
  ),
  changed as materialized (
    select f.*, svc.payload_predicate('properties', jsonb_build_object(f.name, f.field)) as predicate
    from (
      select
        o.key as event, b.key as name, c.retyped,
        case when c.retyped then (a.value - 'enum') #- '{items,enum}' else a.value end || '{"optional": true}' as field,
        'date' in (a.value ->> 'type', coalesce(a.value #>> '{items,type}', '')) as has_dates
      from models as m
      cross join lateral jsonb_each(m.active_events) as o
      join lateral jsonb_each(m.events) as t on t.key = o.key
      cross join lateral jsonb_each(o.value -> 'properties') as b
      -- One that did not change strands nothing, and a long enum takes long to compare.
      join lateral jsonb_each(t.value -> 'properties') as a on a.key = b.key and a.value <> b.value
      cross join lateral (
        select
          coalesce(b.value ->> 'type' <> a.value ->> 'type' or b.value #>> '{items,type}' <> a.value #>> '{items,type}', false) as retyped,
          coalesce(a.value -> 'enum', a.value #> '{items,enum}') as allowed,
          coalesce(b.value -> 'enum', b.value #> '{items,enum}') as allowed_before
      ) as c
      where c.retyped or not coalesce(c.allowed @> c.allowed_before, c.allowed is null)
    ) as f
  ),
  misfits as materialized (
    select g.event, n.name, n.amount
    from (
      select
        f.event, array_agg(f.name) as names, array_agg(f.field) as fields, array_agg(f.has_dates) as have_dates,
        array_agg(f.predicate) as predicates
      from changed as f
      group by f.event
    ) as g
    cross join lateral (
      select c.name, count(*) as amount
      from (
        select e.properties
        from svc.events as e
        where e.environment_id = stranded_events.environment_id and e.event = g.event and e.event <> ''
        order by e.occurred_at desc, e.event_seq desc
        limit 10000
      ) as newest
      cross join unnest(g.names, g.fields, g.have_dates, g.predicates) as c (name, field, has_dates, predicate)
      where newest.properties ? c.name
        and not newest.properties @@ c.predicate
        -- The predicate rejects some dates that do conform.
        and not (c.has_dates and svc.conforms_to_field(newest.properties -> c.name, c.field))
      group by c.name
    ) as n
  )
  select
    'EVENT_REMOVED',
    format(
      case when m.is_strict then 'The event "%s" is removed, and %s stored; the strict schema %s it from now on.'
        else 'The event "%s", which the active version reads, is removed, and %s stored; nothing is derived from them any more.'
      end,
      o.key, svc.count_text(n.amount, 'such event is', 'such events are'), svc.strict_schema_verb(stranded_events.snapshot)
    ),
    svc.member_path('events', o.key)
  from models as m
  cross join lateral jsonb_object_keys(m.active_events) as o (key)
  cross join lateral (
    select count(*) as amount
    from (
      select from svc.events as e
      where e.environment_id = stranded_events.environment_id and e.event = o.key and e.event <> ''
      limit 10001
    ) as found
  ) as n
  where not m.events ? o.key
    and n.amount > 0
    -- In what remains, only a condition, a measure or a trigger has a text as its member `event`.
    and (
      m.is_strict
      or jsonb_path_exists(
        -- Computed only if it is needed, and once.
        (select stranded_events.active::jsonb - '{events,traits,tracking}'::text[]),
        '$.** ? (@.event == $event)', jsonb_build_object('event', o.key)
      )
    )
  union all
  select
    case when f.required then 'PROPERTY_REQUIRED' else 'PROPERTY_REMOVED' end,
    format(
      case
        when f.required then 'The property "%s" of "%s" becomes required, and %s of the last 30 days %s it'
        else 'The property "%s" of "%s" is removed, and %s of the last 30 days %s it'
      end || '; the strict schema %s such events from now on.',
      f.name, f.event, svc.count_text(n.amount, 'event', 'events'), case when f.required then 'lack' else 'have' end,
      svc.strict_schema_verb(stranded_events.snapshot)
    ),
    svc.member_path(svc.member_path('events', f.event) || '.properties', f.name)
  from narrowed as f
  left join recent as r on r.event = f.event
  left join present as h on h.event = f.event and h.name = f.name
  cross join lateral (
    select case when f.required then r.amount - coalesce(h.amount, 0) else coalesce(h.amount, 0) end as amount
  ) as n
  where n.amount > 0
  union all
  select
    case when f.retyped then 'PROPERTY_TYPE_CHANGED' else 'PROPERTY_VALUES_REMOVED' end,
    format(
      case
        when f.retyped then 'The property "%s" of "%s" changes its type, and its value does not fit in %s of the newest 10,000.'
        else 'The property "%s" of "%s" allows fewer values, and its value is none of them in %s of the newest 10,000.'
      end,
      f.name, f.event, svc.count_text(n.amount, 'event', 'events')
    ),
    svc.member_path(svc.member_path('events', f.event) || '.properties', f.name)
  from changed as f
  join misfits as n on n.event = f.event and n.name = f.name
  -- By code, then by path.
  order by 1, 3;
$$;

comment on function svc.stranded_events(integer, json, json) is
  'Removed events, and removed, required or retyped properties to which stored events do not conform.';
