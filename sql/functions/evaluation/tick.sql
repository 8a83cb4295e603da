-- svc_api.heartbeat and svc_api.request_due_evaluations in one, which workers of the version before call during an upgrade.
-- Locks nothing for long.
create or replace function svc_api.tick(worker_id text, settle interval)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc_api.heartbeat(tick.worker_id);
  return svc_api.request_due_evaluations(tick.settle);
end;
$$;

comment on function svc_api.tick(text, interval) is 'Heartbeat and due evaluations, for workers of the version before.';
