-- The size of each segment; the declared ones first, in the author's order.
-- Raises nothing, locks nothing.
create or replace function svc.segment_counts(environment_id integer, declared text[])
returns json
language sql
stable
set search_path = ''
as $$
  with present as (
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
  from unnest(segment_counts.declared) with ordinality as d (segment, position)
  full join present as p using (segment);
$$;

comment on function svc.segment_counts(integer, text[]) is 'The size of each segment.';
