create or replace view svc_inspect.workers as
select w.worker_id, w.seen_at > now() - interval '30 seconds' as alive, w.started_at, w.seen_at
from svc.workers as w;

comment on view svc_inspect.workers is
  'Processes that evaluate and deliver. One that stops or falls silent for 30 seconds loses its row soon after.';
comment on column svc_inspect.workers.worker_id is 'Id of the process.';
comment on column svc_inspect.workers.alive is 'Whether it has shown a sign of life in the last 30 seconds.';
comment on column svc_inspect.workers.started_at is 'When it started.';
comment on column svc_inspect.workers.seen_at is 'Its last sign of life.';
