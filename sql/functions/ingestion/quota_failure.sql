-- The failure of a request that exceeds the month's quota: the limit, and when the next month begins.
-- Raises nothing, locks nothing.
create or replace function svc.quota_failure(
  monthly_events bigint, month_events bigint, requested bigint, month date, at timestamptz, rate_burst integer, tokens double precision
)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'sqlstate', 'SV009',
    'code', 'MONTHLY_QUOTA_EXCEEDED',
    'message', format(
      'The plan allows %s %s per calendar month.',
      quota_failure.monthly_events, case when quota_failure.monthly_events = 1 then 'event' else 'events' end
    ),
    'reason', format(
      '%s %s used in %s; the request has %s more.',
      quota_failure.month_events, case when quota_failure.month_events = 1 then 'was' else 'were' end,
      to_char(quota_failure.month, 'YYYY-MM'), quota_failure.requested
    ),
    'fix', format(
      'Wait until %sT00:00:00Z, or ask the operator of this service for a larger plan.', to_char(n.next_month, 'YYYY-MM-DD')
    ),
    'limit', quota_failure.rate_burst,
    'remaining', greatest(0, floor(quota_failure.tokens)),
    'retryAfter', greatest(1, ceil(extract(epoch from n.next_month at time zone 'UTC' - quota_failure.at)))
  )
  from (values (quota_failure.month + interval '1 month')) as n (next_month);
$$;

comment on function svc.quota_failure(bigint, bigint, bigint, date, timestamptz, integer, double precision) is
  'Failure MONTHLY_QUOTA_EXCEEDED with retryAfter (s).';
