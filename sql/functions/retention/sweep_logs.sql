-- Removes records of an environment that recomputes superseded: transitions, scores and rule executions of generations superseded longer
-- ago than the plan keeps them. An execution that emitted something is kept as long as its emission, which refers to it. It stops after
-- `row_limit` rows, or after as many of one kind, so that no call takes long; answers the number of rows of all kinds, plus one for each
-- customer that has none left. Call it again until it answers 0.
-- Raises nothing. Locks rows of svc.superseded_logs, then the rows it deletes; skips those that others hold, for example an erasure,
-- and so waits for nothing.
create or replace function svc_api.sweep_logs(environment_id integer, row_limit integer)
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
  _id constant integer := sweep_logs.environment_id;
  _before constant timestamptz := now() - (svc.plan_of_environment(_id)).superseded_days * interval '24 hours';
  _limit constant integer := sweep_logs.row_limit;
  _customer record;
  _rows integer;
  _most integer;
  _total integer := 0;
begin
  -- Read in one loop: each further query would scan the rows that this call deletes.
  for _customer in
    select l.customer_id, l.generation
    from svc.superseded_logs as l
    where l.environment_id = _id and l.superseded_at < _before
    order by l.superseded_at, l.customer_id, l.generation
    limit _limit
    for update skip locked
  loop
    exit when _total >= _limit;

    delete from svc.lifecycle_transitions as t
    where t.environment_id = _id and t.ctid = any(array(
      select o.ctid
      from svc.lifecycle_transitions as o
      where o.environment_id = _id and o.customer_id = _customer.customer_id and o.generation < _customer.generation
      order by o.transition_seq
      limit _limit
      for update skip locked
    ));
    get diagnostics _rows = row_count;
    _most := _rows;
    _total := _total + _rows;

    delete from svc.health_scores as h
    where h.environment_id = _id and h.ctid = any(array(
      select o.ctid
      from svc.health_scores as o
      where o.environment_id = _id and o.customer_id = _customer.customer_id and o.generation < _customer.generation
      order by o.generation, o.score_seq
      limit _limit
      for update skip locked
    ));
    get diagnostics _rows = row_count;
    _most := greatest(_most, _rows);
    _total := _total + _rows;

    delete from svc.rule_executions as x
    where x.environment_id = _id and x.ctid = any(array(
      select o.ctid
      from svc.rule_executions as o
      where o.environment_id = _id and o.customer_id = _customer.customer_id and o.generation < _customer.generation
        and o.emission_seq is null
      order by o.generation, o.executed_at, o.execution_seq
      limit _limit
      for update skip locked
    ));
    get diagnostics _rows = row_count;
    _most := greatest(_most, _rows);
    _total := _total + _rows;

    -- There may be more rows of this customer.
    exit when _most = _limit;
    delete from svc.superseded_logs as l
    where l.environment_id = _id and l.customer_id = _customer.customer_id and l.generation = _customer.generation;
    _total := _total + 1;
  end loop;
  return _total;
end;
$$;

comment on function svc_api.sweep_logs(integer, integer) is
  'Removes logs that recomputes superseded, after the days that the plan keeps them, a limited number of rows at once.';
