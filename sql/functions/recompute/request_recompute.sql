-- Requests that a worker checks an environment's queue of recomputes now, rather than at the next tick. The queue is svc.recomputes: a
-- graphile-worker job that finds nothing to claim there, because another worker holds it, simply ends.
-- Raises nothing, locks nothing.
create or replace function svc.request_recompute(environment_id integer)
returns void
language sql
volatile
set search_path = ''
as $$
  select graphile_worker.add_job(
    'recompute', json_build_object('environmentId', request_recompute.environment_id), max_attempts => 25
  );
$$;

comment on function svc.request_recompute(integer) is 'Enqueues a recompute job for an environment.';
