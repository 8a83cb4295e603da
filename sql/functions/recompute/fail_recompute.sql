-- Records that an attempt failed: the job is tried again after a pause, or given up after attempts_max failures without progress.
-- Answers the job's status. Does nothing if the attempt is not the job's current one.
-- Raises nothing. Locks the job's row.
create or replace function svc_api.fail_recompute(
  environment_id integer, recompute_id text, attempt integer, error text, attempts_max integer, pause interval
)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _job svc.recomputes;
  _failures integer;
begin
  select * into _job
  from svc.recomputes as r
  where r.environment_id = fail_recompute.environment_id and r.recompute_id = fail_recompute.recompute_id
    and r.attempt = fail_recompute.attempt and r.status = 'running'
  for update;
  if not found then
    return null;
  end if;
  perform svc.flush_recompute_outbox(_job.environment_id, _job.recompute_id);
  _failures := case when _job.customers_done > _job.done_at_attempt then 1 else _job.failures + 1 end;
  if _failures >= fail_recompute.attempts_max then
    perform svc.end_failed_recompute(_job, _failures, fail_recompute.error);
    return 'dead_letter';
  end if;
  update svc.recomputes as r
  set
    status = 'retrying',
    failures = _failures,
    error = left(fail_recompute.error, 2000),
    -- Doubled with each failure, up to a minute.
    next_attempt_at = now() + least(fail_recompute.pause * power(2, least(_failures - 1, 20)), interval '1 minute')
  where r.environment_id = _job.environment_id and r.recompute_id = _job.recompute_id;
  return 'retrying';
end;
$$;

comment on function svc_api.fail_recompute(integer, text, integer, text, integer, interval) is
  'Records that an attempt at a recompute failed.';
