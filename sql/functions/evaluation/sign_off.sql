-- The end of a worker that stops in order: it counts as alive no longer. To be called once it has no job at hand.
-- Raises nothing. Locks the worker's row of svc.workers.
create or replace function svc_api.sign_off(worker_id text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
delete from svc.workers as w where w.worker_id = sign_off.worker_id;
end;

comment on function svc_api.sign_off(text) is 'Takes a worker that stops from those that are alive.';
