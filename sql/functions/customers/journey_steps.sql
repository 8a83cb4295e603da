-- The steps of a run of a journey and the time that they took: the declared ones in their order, then those that the run completed
-- although they are not declared. started_at is the run's; steps are its completed ones, as in svc.journey_runs. secondsFromPrevious counts
-- from the step completed before, or from the start.
-- Raises nothing, locks nothing.
create or replace function svc.journey_steps(started_at timestamptz, steps json, declared text[])
returns json
language sql
stable
set search_path = ''
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'stepId', t.step_id,
        'completedAt', svc.iso(t.completed_at),
        'triggeredBy', t.triggered_by,
        'secondsFromStart', extract(epoch from t.completed_at - journey_steps.started_at)::double precision,
        'secondsFromPrevious', extract(epoch from t.completed_at - t.previous_at)::double precision
      )
      order by t.declared_position, t.completed_position
    ),
    '[]'
  )
  from (
    select
      coalesce(d.step_id, c.step_id) as step_id, d.position as declared_position, c.position as completed_position,
      c.completed_at, c.triggered_by, c.previous_at
    from unnest(journey_steps.declared) with ordinality as d (step_id, position)
    full join (
      select
        s.step_id, s.position, a.completed_at, s.step ->> 'triggeredBy' as triggered_by,
        lag(a.completed_at, 1, journey_steps.started_at) over (order by a.completed_at, s.position) as previous_at
      from json_each(journey_steps.steps) with ordinality as s (step_id, step, position)
      cross join lateral (select (s.step ->> 'completedAt')::timestamptz) as a (completed_at)
    ) as c on c.step_id = d.step_id
  ) as t;
$$;

comment on function svc.journey_steps(timestamptz, json, text[]) is 'The steps of a run of a journey and the time that they took.';
