-- The parts of a kind that a version declares, in the author's order: names of states, ids of segments, journeys, rules, signals and bands.
-- Raises nothing, locks nothing.
create or replace function svc.part_names(project_id integer, version integer, kind text)
returns text[]
language sql
stable
parallel safe
return array(
  select p.part ->> case part_names.kind when 'state' then 'name' else 'id' end
  from svc.config_versions as v
  cross join lateral json_array_elements(
    case part_names.kind
      when 'state' then v.snapshot #> '{lifecycle,states}'
      when 'band' then v.snapshot #> '{health,bands}'
      else v.snapshot -> (part_names.kind || 's')
    end
  ) with ordinality as p (part, n)
  where v.project_id = part_names.project_id and v.version = part_names.version
  order by p.n
);

comment on function svc.part_names(integer, integer, text) is
  'The names of the states, segments, journeys, rules, signals or bands that a version declares.';
