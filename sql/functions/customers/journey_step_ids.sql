-- The ids of a journey's steps in the author's order, as a version declares it; null if it does not.
-- Raises nothing, locks nothing.
create or replace function svc.journey_step_ids(project_id integer, version integer, journey_id text)
returns text[]
language sql
stable
parallel safe
set search_path = ''
return (
  select array(select s.step ->> 'id' from json_array_elements(j -> 'steps') with ordinality as s (step, n) order by s.n)
  from svc.config_versions as v
  cross join lateral json_array_elements(v.snapshot -> 'journeys') as j
  where v.project_id = journey_step_ids.project_id
    and v.version = journey_step_ids.version
    and j ->> 'id' = journey_step_ids.journey_id
);

comment on function svc.journey_step_ids(integer, integer, text) is 'The steps of a journey that a version declares.';
