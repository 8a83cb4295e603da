-- Records that a worker died, which the process that started it notices at once: its jobs become free for others.
-- Raises nothing. Locks the worker's row of svc.workers, and its jobs.
create or replace function svc_api.remove_worker(worker_id text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from svc.workers as w where w.worker_id = remove_worker.worker_id;
  perform svc.unlock_workers(array[remove_worker.worker_id]);
end;
$$;

comment on function svc_api.remove_worker(text) is 'Records that a worker died and frees its jobs.';
