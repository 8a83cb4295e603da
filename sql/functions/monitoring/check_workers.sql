-- WORKER_MISSING if no worker has sent a heartbeat for 30 seconds, else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_workers()
returns json
language sql
stable
set search_path = ''
begin atomic
  select svc.finding(
    'WORKER_MISSING',
    'problem',
    'no worker has sent a heartbeat for 30 seconds: nothing is evaluated and nothing is delivered.',
    'Ask the operator of the service to start one: svc-server start --role worker, or all',
    1,
    json_build_object('lastSeenAt', svc.iso((select max(w.seen_at) from svc.workers as w)))
  )
  where not exists (select from svc.workers as w where svc.is_alive(w.seen_at));
end;

comment on function svc.check_workers() is 'Diagnostics: whether a worker is alive.';
