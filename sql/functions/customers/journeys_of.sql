-- The journeys of a customer, by id in the order of their bytes: the present or last run of each that ever started, with its completed
-- steps in the author's order.
-- Raises nothing, locks nothing.
create or replace function svc.journeys_of(environment_id integer, customer_id text)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  select coalesce(
    json_agg(
      json_build_object(
        'journeyId', j.journey_id,
        'status', j.status,
        'currentStep', j.current_step,
        'stepsData', j.steps,
        'startedAt', svc.iso(j.started_at),
        'completedAt', svc.iso(j.completed_at),
        'expiredAt', svc.iso(j.expired_at)
      )
      order by j.journey_id collate "C"
    ),
    '[]'
  )
  from svc.journey_runs as j
  where j.environment_id = journeys_of.environment_id
    and j.customer_id = journeys_of.customer_id
    and not exists (
      select from svc.journey_runs as n
      where n.environment_id = j.environment_id
        and n.customer_id = j.customer_id
        and n.journey_id = j.journey_id
        and n.run > j.run
    );
end;

comment on function svc.journeys_of(integer, text) is 'The progress of a customer in the journeys that it ever started.';
