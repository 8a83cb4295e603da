-- Says that an environment has no such segment, with the names of those that the active version declares.
-- Raises SV004 SEGMENT_NOT_FOUND. Locks nothing.
create or replace function svc.raise_segment_not_found(project_id integer, active_version integer, segment_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV004',
    message = 'SEGMENT_NOT_FOUND',
    detail = jsonb_build_object(
      'message', format('There is no segment "%s" in this environment.', left(raise_segment_not_found.segment_id, 256)),
      'unknown', json_build_object(
        'name', raise_segment_not_found.segment_id,
        'known', svc.part_names(raise_segment_not_found.project_id, raise_segment_not_found.active_version, 'segment')
      ),
      'fix', 'Check the id and the environment; the overview lists the segments.'
    )::text;
end;
$$;

comment on function svc.raise_segment_not_found(integer, integer, text) is 'Says that an environment has no such segment.';
