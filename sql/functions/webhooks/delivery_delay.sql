-- The schedule of attempts: how long after the attempt before it an attempt is due, without jitter. Null past the last one.
-- Raises nothing, locks nothing.
create or replace function svc.delivery_delay(attempt integer)
returns interval
language sql
immutable
strict
parallel safe
return (
  '{0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h}'::interval[]
)[delivery_delay.attempt];

comment on function svc.delivery_delay(integer) is 'Wait before an attempt to deliver, counted from 1; null past the last attempt.';
