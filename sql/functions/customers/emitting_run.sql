-- The run of a rule that made an emission, in whichever history of the customer it stands; null where no rule made it, or a version of the
-- service that did not note it.
-- Raises nothing, locks nothing.
create or replace function svc.emitting_run(emission svc.emissions)
returns json
language sql
stable
set search_path = ''
begin atomic
  select svc.rule_execution_item(x, true, x.generation < c.generation)
  from svc.customers as c
  cross join generate_series(0, c.generation) as g (generation)
  cross join lateral (
    select k.*
    from svc.rule_executions as k
    where k.environment_id = c.environment_id and k.customer_id = c.customer_id and k.generation = g.generation
      and k.executed_at = (emission).emitted_at and k.emission_seq = (emission).emission_seq
    limit 1
  ) as x
  where c.environment_id = (emission).environment_id and c.customer_id = (emission).customer_id
  limit 1;
end;

comment on function svc.emitting_run(svc.emissions) is 'The run of a rule that made an emission.';
