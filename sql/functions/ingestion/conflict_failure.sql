-- The failure of an operation whose idempotency key was used with another payload.
-- Raises nothing, locks nothing.
create or replace function svc.conflict_failure(idempotency_key text, ordinal bigint, single boolean)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object(
  'sqlstate', 'SV005',
  'code', 'IDEMPOTENCY_CONFLICT',
  'message', 'The idempotency key was used before with another customer, event, properties or explicit timestamp.',
  'field', case when single then '' else format('events[%s].', ordinal) end || 'idempotencyKey',
  'value', idempotency_key,
  'fix', 'Use a new key for another payload; repeat a request unchanged.'
);

comment on function svc.conflict_failure(text, bigint, boolean) is 'Failure IDEMPOTENCY_CONFLICT with the path and the key.';
