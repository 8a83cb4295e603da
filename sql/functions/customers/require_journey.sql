-- Makes sure that there is a journey over all customers: one that the active version declares, or that has runs.
-- Raises SV004 JOURNEY_NOT_FOUND with the names that there are. Locks nothing.
create or replace function svc.require_journey(environment_id integer, project_id integer, active_version integer, journey_id text)
returns void
language plpgsql
stable
set search_path = ''
-- By index, whatever the statistics say.
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
  raise exception using
    errcode = 'SV004',
    message = 'JOURNEY_NOT_FOUND',
    detail = jsonb_build_object(
      'message', format('There is no journey "%s" in this environment.', left(require_journey.journey_id, 256)),
      'unknown', json_build_object('name', require_journey.journey_id, 'known', _names),
      'fix', 'Check the id and the environment; the configuration lists the journeys.'
    )::text;
end;
$$;

comment on function svc.require_journey(integer, integer, integer, text) is 'Makes sure that there is a journey over all customers.';
