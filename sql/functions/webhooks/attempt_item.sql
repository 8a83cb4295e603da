-- An attempt to deliver as the log shows it.
-- Raises nothing, locks nothing.
create or replace function svc.attempt_item(attempt svc.delivery_attempts)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
set search_path = ''
return json_build_object(
  'attempt', (attempt).attempt,
  'at', svc.iso((attempt).attempted_at),
  'latencyMs', (attempt).latency_ms,
  'statusCode', (attempt).status_code,
  'error', (attempt).error,
  'response', (attempt).response
);

comment on function svc.attempt_item(svc.delivery_attempts) is 'An attempt to deliver as the log shows it.';
