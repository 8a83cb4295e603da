-- Removes what recomputes, dry runs, previews and backtests found of customers, 30 days after they were completed or given up; their own
-- rows stay, with totals and reports, but for those of previews. No more than `row_limit` of these results at once, so that no call takes
-- long; answers how many, with one for each recompute that has none left. Whoever is answered more than nothing calls again.
-- Raises nothing. Locks a recompute, then the results that it deletes; passes over those that others hold, as an erasure does, and so
-- waits for nobody.
create or replace function svc_api.sweep_recomputes(row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- By index, whatever the statistics say.
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
    -- Another sweep may have had it in hand meanwhile, or somebody retried it.
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

    -- There are more, or somebody else has some in hand.
    exit when exists (
      select 1 from svc.recompute_customers as o
      where o.environment_id = _recompute.environment_id and o.recompute_id = _recompute.recompute_id
    );
    -- A preview is of no use without what was found.
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
  'Removes what recomputes found of customers, 30 days after their end, a bounded number of results at once.';
