create or replace view svc_inspect.workers as
select w.worker_id, svc.is_alive(w.seen_at) as alive, w.started_at, w.seen_at
from svc.workers as w;

comment on view svc_inspect.workers is
  'Processes that evaluate and deliver. A worker that stops or sends no heartbeat for 30 seconds soon loses its row.';
comment on column svc_inspect.workers.worker_id is 'Id of the process.';
comment on column svc_inspect.workers.alive is 'Whether it sent a heartbeat in the last 30 seconds.';
comment on column svc_inspect.workers.started_at is 'When it started.';
comment on column svc_inspect.workers.seen_at is 'Its last heartbeat.';
