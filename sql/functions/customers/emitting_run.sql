-- The rule execution that made an emission, in any generation of the customer's history; null if no rule made it, or if a version of the
-- service wrote it that did not record this.
-- Raises nothing, locks nothing.
create or replace function svc.emitting_run(emission svc.emissions)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _id constant integer := emission.environment_id;
  _run svc.rule_executions;
  _generation integer;
begin
  select c.generation into _generation
  from svc.customers as c
  where c.environment_id = _id and c.customer_id = emission.customer_id;
  select x.* into _run
  from generate_series(0, _generation) as g (generation)
  cross join lateral (
    select k.*
    from svc.rule_executions as k
    where k.environment_id = _id and k.customer_id = emission.customer_id and k.generation = g.generation
      and k.executed_at = emission.emitted_at and k.emission_seq = emission.emission_seq
    limit 1
  ) as x
  limit 1;
  if not found then
    return null;
  end if;
  return svc.rule_execution_item(
    _run.customer_id, _run.rule_id, _run.result, _run.triggered_by, _run.executed_at, _run.cause_type, _run.cause_id, _run.config_version,
    _run.error, _run.emission_seq, _run.conditions, _run.action, true, _run.generation < _generation
  );
end;
$$;

comment on function svc.emitting_run(svc.emissions) is 'The rule execution that made an emission.';
