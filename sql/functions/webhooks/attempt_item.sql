-- A delivery attempt in the format of the log.
-- Raises nothing, locks nothing.
create or replace function svc.attempt_item(
  attempt integer, attempted_at timestamptz, latency_ms integer, status_code integer, error text, response text
)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
set search_path = ''
return json_build_object(
  'attempt', attempt_item.attempt,
  'at', svc.iso(attempt_item.attempted_at),
  'latencyMs', attempt_item.latency_ms,
  'statusCode', attempt_item.status_code,
  'error', attempt_item.error,
  'response', attempt_item.response
);

comment on function svc.attempt_item(integer, timestamptz, integer, integer, text, text) is 'A delivery attempt in the format of the log.';
