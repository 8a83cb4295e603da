-- Ends a backtest whose customers are all done, with its report.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one. Locks the job's row.
create or replace function svc_api.finish_backtest(environment_id integer, recompute_id text, attempt integer, report json)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update svc.recomputes as r
  set report = finish_backtest.report
  where r.environment_id = finish_backtest.environment_id and r.recompute_id = finish_backtest.recompute_id
    and r.attempt = finish_backtest.attempt and r.status = 'running';
  perform svc_api.finish_recompute(finish_backtest.environment_id, finish_backtest.recompute_id, finish_backtest.attempt);
end;
$$;

comment on function svc_api.finish_backtest(integer, text, integer, json) is 'Ends a backtest with its report.';
