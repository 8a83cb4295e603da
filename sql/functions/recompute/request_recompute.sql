-- Asks a worker to look at an environment's queue of recomputes now, rather than at the next tick. The queue is svc.recomputes: who finds
-- nothing to do there, because another worker has it in hand, leaves again.
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
