-- Reports that an environment has no such segment, with the names of those that the active version declares.
-- Raises SV004 SEGMENT_NOT_FOUND. Locks nothing.
create or replace function svc.raise_segment_not_found(project_id integer, active_version integer, segment_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform svc.raise_not_found(
    'SEGMENT_NOT_FOUND', 'segment', raise_segment_not_found.segment_id, 'in this environment',
    'Check the id and the environment; the overview lists the segments.',
    jsonb_build_object(
      'unknown', json_build_object(
        'name', raise_segment_not_found.segment_id,
        'known', svc.part_names(raise_segment_not_found.project_id, raise_segment_not_found.active_version, 'segment')
      )
    )
  );
end;
$$;

comment on function svc.raise_segment_not_found(integer, integer, text) is 'Raises SEGMENT_NOT_FOUND.';
