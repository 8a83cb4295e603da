-- A journey over all customers: the number of runs (if an instant is given, those that started then or later), how they ended,
-- and for each step how many completed it, are at it or expired at it, and how long it took: the quartiles of the time since the step
-- that the run completed before, or its start. Steps are those of the active version in the author's order, then those that runs completed
-- but it does not declare. Reads all runs of the environment, so its duration is proportional to them.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, or JOURNEY_NOT_FOUND for one that neither started nor is in the active
-- version. Locks nothing.
create or replace function svc_api.get_journey_funnel(
  token_hash bytea, organization_id text, project_slug text, environment_name text, journey_id text, since timestamptz
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'get_journey_funnel'
  );
  _declared constant text[] := svc.journey_step_ids(
    _environment.project_id, _environment.active_version, get_journey_funnel.journey_id
  );
  _funnel json;
  _runs bigint;
begin
  with runs as materialized (
    select r.customer_id, r.run, r.status, r.current_step, r.steps, r.started_at, r.completed_at
    from svc.journey_runs as r
    where r.environment_id = _environment.environment_id
      and r.journey_id = get_journey_funnel.journey_id
      and (get_journey_funnel.since is null or r.started_at >= get_journey_funnel.since)
  ),
  completions as materialized (
    select
      s.step_id,
      extract(epoch from a.completed_at - lag(a.completed_at, 1, r.started_at) over (
        partition by r.customer_id, r.run order by a.completed_at, s.position
      )) as seconds
    from runs as r
    cross join lateral json_each(r.steps) with ordinality as s (step_id, step, position)
    cross join lateral (select (s.step ->> 'completedAt')::timestamptz) as a (completed_at)
  ),
  completed as (
    select
      c.step_id, count(*) as runs,
      percentile_cont(array[0.25, 0.5, 0.75]) within group (order by c.seconds) as quartiles
    from completions as c
    group by c.step_id
  ),
  standing as (
    select
      r.current_step as step_id, count(*) filter (where r.status = 'active') as active,
      count(*) filter (where r.status = 'expired') as expired
    from runs as r
    group by r.current_step
  ),
  steps as (
    select d.step_id, d.n
    from unnest(_declared) with ordinality as d (step_id, n)
    union all
    select o.step_id, null
    from (select c.step_id from completed as c union select s.step_id from standing as s where s.active + s.expired > 0) as o
    where o.step_id = any(_declared) is not true
  )
  select
    count(*),
    json_build_object(
      'journeyId', get_journey_funnel.journey_id,
      'since', svc.iso(get_journey_funnel.since),
      'runs', count(*),
      'customers', count(distinct r.customer_id),
      'active', count(*) filter (where r.status = 'active'),
      'complete', count(*) filter (where r.status = 'complete'),
      'expired', count(*) filter (where r.status = 'expired'),
      'secondsToComplete', svc.quartiles(
        percentile_cont(array[0.25, 0.5, 0.75]) within group (order by extract(epoch from r.completed_at - r.started_at))
      ),
      'steps', (
        select coalesce(
          json_agg(
            json_build_object(
              'stepId', s.step_id,
              'declared', s.n is not null,
              'completed', coalesce(c.runs, 0),
              'active', coalesce(t.active, 0),
              'expired', coalesce(t.expired, 0),
              'secondsFromPrevious', svc.quartiles(c.quartiles)
            )
            order by s.n, s.step_id collate "C"
          ),
          '[]'
        )
        from steps as s
        left join completed as c on c.step_id = s.step_id
        left join standing as t on t.step_id = s.step_id
      )
    )
  into _runs, _funnel
  from runs as r;

  if _runs = 0 then
    perform svc.require_journey(
      _environment.environment_id, _environment.project_id, _environment.active_version, get_journey_funnel.journey_id
    );
  end if;
  return _funnel;
end;
$$;

comment on function svc_api.get_journey_funnel(bytea, text, text, text, text, timestamptz) is
  'A journey over all customers: how many completed each step, and how long the steps took.';
