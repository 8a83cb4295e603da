-- How far an event may occur before or after its acceptance and still count as happening now: an earlier one is late (a backfill), a later
-- one waits for its instant. The same as PUNCTUAL_MILLISECONDS of src/engine/timers.ts.
-- Raises nothing, locks nothing.
create or replace function svc.punctual()
returns interval
language sql
immutable
parallel safe
return interval '5 minutes';

comment on function svc.punctual() is 'How far an event may occur before or after its acceptance and still count as happening now.';
