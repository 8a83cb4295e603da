-- The failure of a request that exceeds the content of the rate bucket: the limit, and when to try again.
-- Raises nothing, locks nothing.
create or replace function svc.rate_failure(operations integer, tokens double precision, rate_per_second integer, rate_burst integer)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object(
  'sqlstate', 'SV008',
  'code', 'RATE_LIMIT_EXCEEDED',
  'message', format('The rate limit of this API key allows %s operations per second.', rate_per_second),
  'reason', format('The request has %s operation(s); %s can be accepted now.', operations, greatest(0, floor(tokens))),
  'fix', 'Send the same request again after the number of seconds in Retry-After.',
  'limit', rate_burst,
  'remaining', greatest(0, floor(tokens)),
  'retryAfter', greatest(1, ceil((least(operations, rate_burst) - tokens) / rate_per_second))
);

comment on function svc.rate_failure(integer, double precision, integer, integer) is
  'Failure RATE_LIMIT_EXCEEDED with limit, remaining and retryAfter (s).';
