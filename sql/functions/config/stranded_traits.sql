-- Traits that another snapshot declares differently, if customers have values that no longer conform, or removes under a strict schema, if
-- customers have them. It scans the environment's customers only for such traits, and counts up to the highest number that svc.count_text
-- distinguishes.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_traits(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
as $$
  with models as materialized (
    -- Parsed once, not for each trait.
    select
      (stranded_traits.active -> 'traits')::jsonb as active_traits, (stranded_traits.snapshot -> 'traits')::jsonb as traits,
      (stranded_traits.snapshot ->> 'strictSchema')::boolean as is_strict
  )
  select
    'TRAIT_REMOVED',
    format(
      'The trait "%s" is removed, and %s it; the strict schema %s it from now on.',
      o.key, svc.count_text(n.amount, 'customer has', 'customers have'), svc.strict_schema_verb(stranded_traits.snapshot)
    ),
    svc.member_path('traits', o.key)
  from models as m
  cross join lateral jsonb_object_keys(m.active_traits) as o (key)
  cross join lateral (
    select count(*) as amount
    from (
      select from svc.customers as c
      where c.environment_id = stranded_traits.environment_id and c.traits ? o.key
      limit 10001
    ) as found
  ) as n
  where m.is_strict and not m.traits ? o.key and n.amount > 0
  union all
  select
    case when f.retyped then 'TRAIT_TYPE_CHANGED' else 'TRAIT_VALUES_REMOVED' end,
    format(
      case
        when f.retyped then 'The trait "%s" changes its type, and the value of %s does not fit it.'
        else 'The trait "%s" allows fewer values, and the value of %s is none of them.'
      end,
      f.name, svc.count_text(n.amount, 'customer', 'customers')
    ),
    svc.member_path('traits', f.name)
  from (
    select
      o.key as name,
      jsonb_build_object(o.key, t.value) as field,
      o.value ->> 'type' <> t.value ->> 'type' or o.value #>> '{items,type}' <> t.value #>> '{items,type}' as retyped
    from models as m
    cross join lateral jsonb_each(m.active_traits) as o
    join lateral jsonb_each(m.traits) as t on t.key = o.key
    where o.value <> t.value
      -- A trait that only allows more values than before strands nothing.
      and not coalesce(o.value - 'enum' = t.value - 'enum' and (t.value -> 'enum') @> (o.value -> 'enum'), false)
  ) as f
  -- Computed once, not for each customer.
  cross join lateral (select svc.payload_predicate('traits', f.field) as predicate offset 0) as p
  cross join lateral (
    select count(*) as amount
    from (
      select from svc.customers as c
      where c.environment_id = stranded_traits.environment_id
        and c.traits ? f.name
        and not c.traits @@ p.predicate
        -- The predicate rejects some values that do conform.
        and not svc.conforms_to_field(c.traits -> f.name, f.field -> f.name)
      limit 10001
    ) as found
  ) as n
  where n.amount > 0
  -- By code, then by path.
  order by 1, 3;
$$;

comment on function svc.stranded_traits(integer, json, json) is
  'Removed and changed traits for which customers have values that no longer conform.';
