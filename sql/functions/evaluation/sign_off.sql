-- Removes a worker that stops normally from those that are alive. Call it once it runs no job.
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

comment on function svc_api.sign_off(text) is 'Removes a worker that stops from those that are alive.';
