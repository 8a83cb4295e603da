-- Removes the results by customer of recomputes, dry runs, previews and backtests, 30 days after they were completed or given up; their own
-- rows are kept, with totals and reports, except those of previews. At most `row_limit` results at once, so that no call takes long;
-- answers how many, plus one for each recompute that has none left. Call it again until it answers 0.
-- Raises nothing. Locks a recompute, then the results that it deletes; skips those that others hold, for example an erasure, and so
-- waits for nothing.
create or replace function svc_api.sweep_recomputes(row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _now constant timestamptz := now();
  _before constant timestamptz := _now - 30 * interval '24 hours';
  _recompute record;
  _rows integer;
  _total integer := 0;
begin
  for _recompute in
    select r.environment_id, r.recompute_id, r.kind
    from svc.recomputes as r
    where r.finished_at > coalesce(r.swept_at, '-infinity') and r.finished_at < _before
    order by r.finished_at
    limit sweep_recomputes.row_limit
  loop
    exit when _total >= sweep_recomputes.row_limit;
    -- Check again: another sweep may have taken it meanwhile, or it was retried.
    perform from svc.recomputes as r
    where r.environment_id = _recompute.environment_id and r.recompute_id = _recompute.recompute_id
      and r.finished_at > coalesce(r.swept_at, '-infinity') and r.finished_at < _before
    for update skip locked;
    continue when not found;

    delete from svc.recompute_customers as c
    where c.environment_id = _recompute.environment_id and c.ctid = any(array(
      select o.ctid
      from svc.recompute_customers as o
      where o.environment_id = _recompute.environment_id and o.recompute_id = _recompute.recompute_id
      limit sweep_recomputes.row_limit - _total
      for update skip locked
    ));
    get diagnostics _rows = row_count;
    _total := _total + _rows;

    -- There are more, or another transaction holds some.
    exit when exists (
      select 1 from svc.recompute_customers as o
      where o.environment_id = _recompute.environment_id and o.recompute_id = _recompute.recompute_id
    );
    -- A preview is of no use without its results.
    delete from svc.recomputes as r
    where r.environment_id = _recompute.environment_id and r.recompute_id = _recompute.recompute_id and r.kind = 'preview';
    update svc.recomputes as r
    set swept_at = _now
    where r.environment_id = _recompute.environment_id and r.recompute_id = _recompute.recompute_id;
    _total := _total + 1;
  end loop;
  return _total;
end;
$$;

comment on function svc_api.sweep_recomputes(integer) is
  'Removes results of recomputes by customer, 30 days after their end, a limited number at once.';
