-- The size of each segment.
-- Raises nothing, locks nothing.
create or replace function svc.segment_counts(environment_id integer)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  with declared as (
    select s.segment ->> 'id' as segment, s.ordinality as position
    from svc.environments as e
    join svc.config_versions as v on v.project_id = e.project_id and v.version = e.active_version
    cross join lateral json_array_elements(v.snapshot -> 'segments') with ordinality as s (segment)
    where e.environment_id = segment_counts.environment_id
  ),
  present as (
    select m.segment_id as segment, count(*) as members
    from svc.segment_memberships as m
    where m.environment_id = segment_counts.environment_id and m.exited_at is null
    group by m.segment_id
  )
  select coalesce(
    json_agg(
      json_build_object('segment', segment, 'members', coalesce(p.members, 0))
      order by d.position, segment collate "C"
    ),
    '[]'
  )
  from declared as d
  full join present as p using (segment);
end;

comment on function svc.segment_counts(integer) is 'The size of each segment.';
