-- All journeys over all customers, as counts only: for each the number of runs (if an instant is given, those that started then or later),
-- how they ended, and how many are at each step or expired there. In the author's order, then journeys that have runs but are not declared
-- by the active version; the same for the steps of each. Reads all runs of the environment, but not their completed steps.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_journeys(
  token_hash bytea, organization_id text, project_slug text, environment_name text, since timestamptz
)
returns json
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_journeys');
  _declared constant json := (
    select v.snapshot -> 'journeys'
    from svc.config_versions as v
    where v.project_id = _environment.project_id and v.version = _environment.active_version
  );
begin
  return (
    with standing as materialized (
      select
        r.journey_id, r.current_step as step_id, sum(r.runs) filter (where r.status = 'active') as active,
        sum(r.runs) filter (where r.status = 'complete') as complete, sum(r.runs) filter (where r.status = 'expired') as expired
      from (
        select k.journey_id, k.current_step, k.status, count(*) as runs
        from svc.journey_runs as k
        where k.environment_id = _environment.environment_id
          and (get_journeys.since is null or k.started_at >= get_journeys.since)
        group by k.journey_id, k.current_step, k.status
      ) as r
      group by r.journey_id, r.current_step
    ),
    declared as (
      select
        d.journey ->> 'id' as journey_id, d.n,
        array(
          select s.step ->> 'id' from json_array_elements(d.journey -> 'steps') with ordinality as s (step, n) order by s.n
        ) as steps
      from json_array_elements(_declared) with ordinality as d (journey, n)
    ),
    journeys as (
      select j.journey_id, d.n, d.steps
      from (select d.journey_id from declared as d union select s.journey_id from standing as s) as j
      left join declared as d on d.journey_id = j.journey_id
    )
    select json_build_object(
      'since', svc.iso(get_journeys.since),
      'journeys', coalesce(
        json_agg(
          json_build_object(
            'journeyId', j.journey_id,
            'declared', j.n is not null,
            'active', t.active,
            'complete', t.complete,
            'expired', t.expired,
            'steps', t.steps
          )
          order by j.n, j.journey_id collate "C"
        ),
        '[]'
      )
    )
    from journeys as j
    cross join lateral (
      select
        coalesce(sum(s.active), 0) as active, coalesce(sum(s.complete), 0) as complete, coalesce(sum(s.expired), 0) as expired,
        coalesce(
          json_agg(
            json_build_object(
              'stepId', p.step_id, 'declared', p.n is not null, 'active', coalesce(s.active, 0), 'expired', coalesce(s.expired, 0)
            )
            order by p.n, p.step_id collate "C"
          ) filter (where p.n is not null or coalesce(s.active, s.expired) > 0),
          '[]'
        ) as steps
      from (
        select d.step_id, d.n
        from unnest(j.steps) with ordinality as d (step_id, n)
        union all
        select o.step_id, null
        from standing as o
        where o.journey_id = j.journey_id and o.step_id = any(j.steps) is not true
      ) as p
      left join standing as s on s.journey_id = j.journey_id and s.step_id = p.step_id
    ) as t
  );
end;
$$;

comment on function svc_api.get_journeys(bytea, text, text, text, timestamptz) is 'All journeys over all customers, as counts only.';
