-- Runs of a journey by customer id; filtered by status, by the step at which a run is or expired, by a completed step, and an earliest
-- start. Null filters do not filter. A page reads at most 2,000 runs: if too few of them pass the filters, it is short or even empty,
-- and nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, or JOURNEY_NOT_FOUND for one that neither started nor is in
-- the active version, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.search_journey_runs(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  journey_id text, status text, step text, completed text, since timestamptz, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'search_journey_runs'
  );
  _id constant integer := _environment.environment_id;
  -- Run and customer id: only the id can contain a space.
  _after constant text[] := regexp_match(
    svc.decode_cursor('journey-runs', search_journey_runs.cursor, '^[0-9]{1,9} .+$'), '^([0-9]+) (.+)$'
  );
  _after_run constant integer := coalesce(_after[1]::integer, 0);
  _after_id constant text := coalesce(_after[2], '');
  _look_max constant integer := 2000;
  _items json[];
  _positions text[];
  _resume text;
begin
  perform svc.require_journey(_id, _environment.project_id, _environment.active_version, search_journey_runs.journey_id);
  with looked as materialized (
    -- Each branch by an index in the order of the list: one of the active runs, one of all runs.
    (
      select r.*
      from svc.journey_runs as r
      where search_journey_runs.status = 'active' and r.status = 'active'
        and r.environment_id = _id and r.journey_id = search_journey_runs.journey_id
        and r.customer_id >= _after_id and (r.customer_id, r.run) > (_after_id, _after_run)
      order by r.customer_id, r.run
      limit _look_max
    )
    union all
    (
      select r.*
      from svc.journey_runs as r
      where search_journey_runs.status is distinct from 'active'
        and r.environment_id = _id and r.journey_id = search_journey_runs.journey_id
        and r.customer_id >= _after_id and (r.customer_id, r.run) > (_after_id, _after_run)
      order by r.customer_id, r.run
      limit _look_max
    )
  ),
  passed as (
    select l.*
    from looked as l
    where (search_journey_runs.status is null or l.status = search_journey_runs.status)
      and (search_journey_runs.step is null or (l.status <> 'complete' and l.current_step = search_journey_runs.step))
      and (search_journey_runs.completed is null or l.steps -> search_journey_runs.completed is not null)
      and (search_journey_runs.since is null or l.started_at >= search_journey_runs.since)
    order by l.customer_id, l.run
    limit search_journey_runs.row_limit + 1
  )
  select
    array_agg(
      json_build_object(
        'customerId', p.customer_id,
        'run', p.run,
        'status', p.status,
        'currentStep', p.current_step,
        'startedAt', svc.iso(p.started_at),
        'completedAt', svc.iso(p.completed_at),
        'expiredAt', svc.iso(p.expired_at)
      )
      order by p.customer_id, p.run
    ),
    array_agg(concat(p.run, ' ', p.customer_id) order by p.customer_id, p.run),
    (select concat(l.run, ' ', l.customer_id) from looked as l order by l.customer_id, l.run offset _look_max - 1 limit 1)
  into _items, _positions, _resume
  from passed as p;
  return svc.partial_page('journey-runs', _items, _positions, search_journey_runs.row_limit, _resume);
end;
$$;

comment on function svc_api.search_journey_runs(bytea, text, text, text, text, text, text, text, timestamptz, integer, text) is
  'Runs of a journey by customer id, filtered.';
