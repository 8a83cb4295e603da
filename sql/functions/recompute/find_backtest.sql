-- Finds a backtest by its id.
-- Raises SV004 BACKTEST_NOT_FOUND. Locks nothing.
create or replace function svc.find_backtest(environment_id integer, backtest_id text)
returns svc.recomputes
language plpgsql
stable
set search_path = ''
as $$
declare
  _backtest svc.recomputes;
begin
  select r.* into _backtest
  from svc.recomputes as r
  where r.environment_id = find_backtest.environment_id and r.recompute_id = find_backtest.backtest_id and r.kind = 'backtest';
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'BACKTEST_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no backtest "%s" in this environment.', left(find_backtest.backtest_id, 256)),
        'fix', 'Check the id and the environment; GET /projects/:project/backtests lists all of them.'
      )::text;
  end if;
  return _backtest;
end;
$$;

comment on function svc.find_backtest(integer, text) is 'A backtest; raises BACKTEST_NOT_FOUND.';
