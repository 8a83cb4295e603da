-- A page of the samples that a backtest recorded, for its report: like svc_api.list_backtest_samples.
-- Raises SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.read_backtest_samples(environment_id integer, recompute_id text, row_limit integer, "cursor" text)
returns json
language sql
stable
security definer
set search_path = ''
return svc.recompute_page(
  'backtest_samples', read_backtest_samples.environment_id, read_backtest_samples.recompute_id, true, read_backtest_samples.row_limit,
  read_backtest_samples.cursor
);

comment on function svc_api.read_backtest_samples(integer, text, integer, text) is 'A page of the samples that a backtest recorded.';
