-- The queue of a kind of job: previews and backtests write nothing, so they do not wait for recomputes or for each other.
-- Raises nothing, locks nothing.
create or replace function svc.recompute_lane(kind text)
returns integer
language sql
immutable
parallel safe
set search_path = ''
return case recompute_lane.kind when 'preview' then 2 when 'backtest' then 3 else 1 end;

comment on function svc.recompute_lane(text) is 'The queue of a kind of recompute.';
