-- A customer's progress in one journey with the time that its steps took, and at most 100 earlier runs, newest first. Steps are those of
-- the customer's configuration in the author's order, then completed ones that it does not declare. currentStepSince is when the run
-- reached its current step, that is when the last step before it was completed. A journey that never started is not_started.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, CUSTOMER_NOT_FOUND, or JOURNEY_NOT_FOUND for one that neither started nor
-- is in the customer's configuration. Locks nothing.
create or replace function svc_api.get_journey(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, journey_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_journey');
  _version integer;
  _declared text[];
  _run svc.journey_runs;
  _since timestamptz;
begin
  perform svc.require_customer(_environment.environment_id, get_journey.customer_id);

  select coalesce(c.config_version, _environment.active_version) into _version
  from svc.customers as c
  where c.environment_id = _environment.environment_id and c.customer_id = get_journey.customer_id;
  _declared := svc.journey_step_ids(_environment.project_id, _version, get_journey.journey_id);

  select r.* into _run
  from svc.journey_runs as r
  where r.environment_id = _environment.environment_id
    and r.customer_id = get_journey.customer_id
    and r.journey_id = get_journey.journey_id
  order by r.run desc
  limit 1;

  if _run.run is null and _declared is null then
    perform svc.raise_not_found(
      'JOURNEY_NOT_FOUND', 'journey', get_journey.journey_id, 'for this customer',
      'Check the id and the environment; the state of the customer lists the journeys that it started.',
      jsonb_build_object(
        'reason', 'The customer never started it, and it is not in the configuration that the customer was evaluated under.',
        'unknown', json_build_object(
          'name', get_journey.journey_id,
          'known', svc.part_names(_environment.project_id, _environment.active_version, 'journey')
        )
      )
    );
  end if;

  if _run.status = 'active' then
    select coalesce(max((s.step ->> 'completedAt')::timestamptz), _run.started_at) into _since
    from json_each(_run.steps) as s (step_id, step)
    -- The steps before the current one; all completed steps if the configuration does not declare it.
    where _run.current_step = any(_declared) is not true
      or array_position(_declared, s.step_id) < array_position(_declared, _run.current_step);
  end if;

  return json_build_object(
    'customerId', get_journey.customer_id,
    'journeyId', get_journey.journey_id,
    'status', coalesce(_run.status, 'not_started'),
    'currentStep', _run.current_step,
    'currentStepSince', svc.iso(_since),
    -- An event may occur some minutes in the future if its sender's clock is ahead.
    'secondsOnCurrentStep',
    case when _since is not null then greatest(0, extract(epoch from date_trunc('milliseconds', now()) - _since))::double precision end,
    'run', _run.run,
    'startedAt', svc.iso(_run.started_at),
    'completedAt', svc.iso(_run.completed_at),
    'expiredAt', svc.iso(_run.expired_at),
    'stepsData', coalesce(_run.steps, '{}'),
    'steps', svc.journey_steps(_run.started_at, coalesce(_run.steps, '{}'), _declared),
    'earlierRuns', (
      select coalesce(
        json_agg(
          json_build_object(
            'run', r.run,
            'status', r.status,
            'currentStep', r.current_step,
            'startedAt', svc.iso(r.started_at),
            'completedAt', svc.iso(r.completed_at),
            'expiredAt', svc.iso(r.expired_at),
            'stepsData', r.steps,
            'steps', svc.journey_steps(r.started_at, r.steps, '{}')
          )
          order by r.run desc
        ),
        '[]'
      )
      from svc.journey_runs as r
      where r.environment_id = _environment.environment_id
        and r.customer_id = get_journey.customer_id
        and r.journey_id = get_journey.journey_id
        and r.run < _run.run
        and r.run >= _run.run - 100
    )
  );
end;
$$;

comment on function svc_api.get_journey(bytea, text, text, text, text, text) is
  'A customer''s progress in one journey, with the time that its steps took.';
