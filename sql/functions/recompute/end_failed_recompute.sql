-- Gives a job up, with an error that says why, how far it came, and what to do.
-- Raises nothing. Locks the job's row, which the caller has locked and read.
create or replace function svc.end_failed_recompute(job svc.recomputes, failures integer, error text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _job constant svc.recomputes := end_failed_recompute.job;
  _error constant text := format(
    '%s Given up after %s failed attempts in a row. %s of %s customers are done%s',
    left(end_failed_recompute.error, 2000), end_failed_recompute.failures, _job.customers_done, _job.customers_total,
    case _job.kind
      when 'recompute' then format(
        ' and stay as recomputed, the others are unchanged. When the cause is fixed: svc recompute retry %s', _job.recompute_id
      )
      when 'dry_run' then format('; nothing was changed. When the cause is fixed: svc recompute retry %s', _job.recompute_id)
      else format('; nothing was changed. When the cause is fixed, ask for the %s again.', _job.kind)
    end
  );
begin
  perform svc.flush_recompute_outbox(_job.environment_id, _job.recompute_id);
  update svc.recomputes as r
  set
    status = 'dead_letter',
    failures = end_failed_recompute.failures,
    finished_at = now(),
    next_attempt_at = null,
    -- The model of a preview or backtest is large, and neither is retried.
    snapshot = case when r.snapshot is not null then '{}'::json end,
    error = _error
  where r.environment_id = _job.environment_id and r.recompute_id = _job.recompute_id;
end;
$$;

comment on function svc.end_failed_recompute(svc.recomputes, integer, text) is
  'Gives a recompute up, with an error that says how far it came.';
