-- A backtest in the format of lists and changes: its question, its models, its progress, and its report once it is completed.
-- Raises nothing, locks nothing.
create or replace function svc.backtest_document(backtest svc.recomputes, environment_name text)
returns json
language sql
stable
set search_path = ''
return json_build_object(
  'id', (backtest).recompute_id,
  'status', (backtest).status,
  'environment', backtest_document.environment_name,
  'outcome', (backtest).question -> 'outcome',
  'within', (backtest).question -> 'within',
  'every', (backtest).question -> 'every',
  'from', (backtest).question -> 'from',
  'to', (backtest).question -> 'to',
  'end', (backtest).question -> 'end',
  'customers', case
    when (backtest).customers_total is null then (backtest).sample_size
    -- As in svc.start_recompute.
    when (backtest).sample_share is not null then coalesce((backtest).sample_size, 100000)
  end,
  'traits', (backtest).question -> 'traits',
  'model', json_build_object('configVersion', 'v' || (backtest).version, 'hash', (backtest).hash),
  'against', (backtest).question -> 'against',
  'attempt', (backtest).attempt,
  'nextAttemptAt', svc.iso((backtest).next_attempt_at),
  'error', (backtest).error,
  'progress', json_build_object('customersTotal', (backtest).customers_total, 'customersDone', (backtest).customers_done),
  'report', (backtest).report,
  'requestedBy', (backtest).requested_by,
  'requestedAt', svc.iso((backtest).requested_at),
  'startedAt', svc.iso((backtest).started_at),
  'finishedAt', svc.iso((backtest).finished_at)
);

comment on function svc.backtest_document(svc.recomputes, text) is 'A backtest in the format of lists and changes.';
