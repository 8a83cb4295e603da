-- Checks that a journey exists for the environment: one that the active version declares, or that has runs.
-- Raises SV004 JOURNEY_NOT_FOUND with the declared names. Locks nothing.
create or replace function svc.require_journey(environment_id integer, project_id integer, active_version integer, journey_id text)
returns void
language plpgsql
stable
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
declare
  _names constant text[] := svc.part_names(require_journey.project_id, require_journey.active_version, 'journey');
begin
  if require_journey.journey_id = any(_names)
    or exists (
      select
      from svc.journey_runs as r
      where r.environment_id = require_journey.environment_id and r.journey_id = require_journey.journey_id
    )
  then
    return;
  end if;
  perform svc.raise_not_found(
    'JOURNEY_NOT_FOUND', 'journey', require_journey.journey_id, 'in this environment',
    'Check the id and the environment; the configuration lists the journeys.',
    jsonb_build_object('unknown', json_build_object('name', require_journey.journey_id, 'known', _names))
  );
end;
$$;

comment on function svc.require_journey(integer, integer, integer, text) is
  'Raises JOURNEY_NOT_FOUND unless the active version declares the journey or it has runs.';
