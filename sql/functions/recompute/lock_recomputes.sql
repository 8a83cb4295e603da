-- Locks all unfinished jobs of an environment's queue, and answers whether it could: not if another transaction holds one. So two sessions
-- that claim a job of the same queue exclude each other, whichever jobs they see. It never waits.
-- Raises nothing. Locks rows of svc.recomputes.
create or replace function svc.lock_recomputes(environment_id integer, lane integer)
returns boolean
language sql
volatile
set search_path = ''
as $$
with locked as materialized (
  select r.recompute_id
  from svc.recomputes as r
  where r.environment_id = lock_recomputes.environment_id and svc.recompute_lane(r.kind) = lock_recomputes.lane
    and r.status in ('queued', 'running', 'retrying')
  for update skip locked
)
select (select count(*) from locked) = count(*)
from svc.recomputes as r
where r.environment_id = lock_recomputes.environment_id and svc.recompute_lane(r.kind) = lock_recomputes.lane
  and r.status in ('queued', 'running', 'retrying');
$$;

comment on function svc.lock_recomputes(integer, integer) is 'Locks the unfinished recomputes of a queue, without waiting.';
