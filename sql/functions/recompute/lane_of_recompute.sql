-- The queue of a kind of job: previews and backtests write nothing, so they do not wait for recomputes or for each other.
-- Raises nothing, locks nothing.
create or replace function svc.lane_of_recompute(kind text)
returns integer
language sql
immutable
parallel safe
set search_path = ''
return case lane_of_recompute.kind when 'preview' then 2 when 'backtest' then 3 else 1 end;

comment on function svc.lane_of_recompute(text) is 'The queue of a kind of recompute.';
