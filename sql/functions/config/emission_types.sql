-- The types that evaluation emits under a version, as docs/webhooks.md lists them; src/cli/commands/webhooks/emission-types.ts lists the
-- same, and webhook.test.
-- Raises nothing, locks nothing.
create or replace function svc.emission_types(snapshot json)
returns text[]
language sql
stable
parallel safe
set search_path = ''
return array(
  -- Read once, not for each kind.
  with parts as materialized (
    select p.key, p.value from json_each(emission_types.snapshot) as p
  )
  select 'customer.' || n.name
  from parts as p
  cross join lateral (
    select 'created' as name
    union all
    select s.part ->> 'name' from json_array_elements(p.value -> 'states') as s (part)
  ) as n
  where p.key = 'lifecycle' and json_typeof(p.value) = 'object'
  union all
  select t.type
  from (
    values
      ('journeys', 'journey.started'), ('journeys', 'journey.step_completed'), ('journeys', 'journey.completed'),
      ('journeys', 'journey.expired'), ('segments', 'segment.entered'), ('segments', 'segment.exited'),
      ('signals', 'signal.raised'), ('signals', 'signal.cleared')
  ) as t (parts, type)
  join parts as p on p.key = t.parts
  where json_typeof(p.value) = 'array' and p.value::text <> '[]'
  union all
  select 'health.changed' from parts as p where p.key = 'health' and json_typeof(p.value) = 'object'
  union all
  select r.part #>> '{then,type}'
  from parts as p
  cross join lateral json_array_elements(case p.key when 'rules' then p.value end) as r (part)
  where r.part #>> '{then,kind}' = 'emit'
);

comment on function svc.emission_types(json) is 'The types that evaluation emits under a version.';
