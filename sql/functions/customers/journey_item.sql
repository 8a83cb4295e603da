-- A customer's run of a journey, in the format of documents.
-- Raises nothing, locks nothing.
create or replace function svc.journey_item(
  journey_id text, status text, current_step text, steps json, started_at timestamptz, completed_at timestamptz, expired_at timestamptz
)
returns json
language sql
stable
parallel safe
return json_build_object(
  'journeyId', journey_item.journey_id,
  'status', journey_item.status,
  'currentStep', journey_item.current_step,
  'stepsData', journey_item.steps,
  'startedAt', svc.iso(journey_item.started_at),
  'completedAt', svc.iso(journey_item.completed_at),
  'expiredAt', svc.iso(journey_item.expired_at)
);

comment on function svc.journey_item(text, text, text, json, timestamptz, timestamptz, timestamptz) is
  'A run of a journey, in the format of documents.';
