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
  select 'customer.' || n.name
  from (
    select 'created' as name
    union all
    select s.part ->> 'name' from json_array_elements(emission_types.snapshot #> '{lifecycle,states}') as s (part)
  ) as n
  where json_typeof(emission_types.snapshot -> 'lifecycle') = 'object'
  union all
  select t.type
  from (
    values
      ('journeys', 'journey.started'), ('journeys', 'journey.step_completed'), ('journeys', 'journey.completed'),
      ('journeys', 'journey.expired'), ('segments', 'segment.entered'), ('segments', 'segment.exited'),
      ('signals', 'signal.raised'), ('signals', 'signal.cleared')
  ) as t (parts, type)
  where json_array_length(emission_types.snapshot -> t.parts) > 0
  union all
  select 'health.changed' where json_typeof(emission_types.snapshot -> 'health') = 'object'
  union all
  select r.part #>> '{then,type}'
  from json_array_elements(emission_types.snapshot -> 'rules') as r (part)
  where r.part #>> '{then,kind}' = 'emit'
);

comment on function svc.emission_types(json) is 'The types that evaluation emits under a version.';
