-- Gives a job up, after so many failures in a row or, if none, because it was cancelled, with an error that says why, how far it came, and
-- what to do.
-- Raises nothing. Locks the job's row, which the caller has locked and read.
create or replace function svc.end_failed_recompute(job svc.recomputes, failures integer, error text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _job constant svc.recomputes := end_failed_recompute.job;
  _is_cancelled constant boolean := end_failed_recompute.failures = 0;
  _error constant text := concat(
    left(end_failed_recompute.error, 2000),
    case when not _is_cancelled then format(' Given up after %s failed attempts in a row.', end_failed_recompute.failures) end,
    case
      when _job.customers_total is null then ' Nothing was changed.'
      else format(
        ' %s of %s customers are done%s', _job.customers_done, _job.customers_total,
        case _job.kind when 'recompute' then ' and stay as recomputed, the others are unchanged.' else '; nothing was changed.' end
      )
    end,
    case when _is_cancelled then ' To resume it' else ' When the cause is fixed' end,
    case
      when _job.kind in ('recompute', 'dry_run') then format(': svc recompute retry %s', _job.recompute_id)
      else format(', ask for the %s again.', _job.kind)
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
