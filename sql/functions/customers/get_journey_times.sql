-- How long a journey takes, from the runs of a share of all customers (0 to 1, always the same ones); if an instant is given, only runs
-- that started then or later: quartiles from the start to the completion, and for each step how many runs completed it and the quartiles of
-- the time since the step that the run completed before, or its start. Reading a run's completed steps takes many times as long as counting
-- the run: hence the share, whose runs are read by an index.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, or JOURNEY_NOT_FOUND for one that neither started nor is in
-- the active version. Locks nothing.
create or replace function svc_api.get_journey_times(
  token_hash bytea, organization_id text, project_slug text, environment_name text, journey_id text, since timestamptz, share float8
)
returns json
language plpgsql
stable
security definer
set search_path = ''
set jit = off
-- The plan depends on the share: the index, or all runs.
set plan_cache_mode = force_custom_plan
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'get_journey_times'
  );
  -- Like svc.is_sampled, written as in journey_runs_sample_idx.
  _hash_end constant bigint := case when get_journey_times.share < 1 then (get_journey_times.share * 9223372036854775807)::bigint end;
begin
  perform svc.require_journey(
    _environment.environment_id, _environment.project_id, _environment.active_version, get_journey_times.journey_id
  );
  return (
    with runs as materialized (
      select r.customer_id, r.run, r.steps, r.started_at, r.completed_at
      from svc.journey_runs as r
      where r.environment_id = _environment.environment_id
        and r.journey_id = get_journey_times.journey_id
        and (get_journey_times.since is null or r.started_at >= get_journey_times.since)
        and (_hash_end is null or (hashtextextended(r.customer_id, 0) & 9223372036854775807) < _hash_end)
    ),
    completed as (
      select c.step_id, count(*) as runs, percentile_cont(array[0.25, 0.5, 0.75]) within group (order by c.seconds) as quartiles
      from runs as r
      cross join lateral (
        select
          s.step_id,
          extract(epoch from a.completed_at - lag(a.completed_at, 1, r.started_at) over (order by a.completed_at, s.position)) as seconds
        from json_each(r.steps) with ordinality as s (step_id, step, position)
        cross join lateral (select (s.step ->> 'completedAt')::timestamptz) as a (completed_at)
      ) as c
      group by c.step_id
    )
    select json_build_object(
      'journeyId', get_journey_times.journey_id,
      'since', svc.iso(get_journey_times.since),
      'runs', count(*),
      'secondsToComplete', svc.quartiles(
        percentile_cont(array[0.25, 0.5, 0.75]) within group (order by extract(epoch from r.completed_at - r.started_at))
      ),
      'steps', (
        select coalesce(
          json_agg(
            json_build_object('stepId', c.step_id, 'completed', c.runs, 'secondsFromPrevious', svc.quartiles(c.quartiles))
            order by c.step_id collate "C"
          ),
          '[]'
        )
        from completed as c
      )
    )
    from runs as r
  );
end;
$$;

comment on function svc_api.get_journey_times(bytea, text, text, text, text, timestamptz, float8) is
  'How long a journey takes, measured on a share of all customers.';
