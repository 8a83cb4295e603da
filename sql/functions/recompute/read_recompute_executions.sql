-- The next rule executions in the current log of one customer: {runs: [[rule, result, triggered by, ms], …], lastAt (to the microsecond, in
-- ISO 8601 whatever the session's DateStyle), lastSeq}; runs is null if there are none.
-- Raises nothing, locks nothing.
create or replace function svc_api.read_recompute_executions(
  environment_id integer, customer_id text, generation integer, after_at text, after_seq bigint, row_limit integer
)
returns json
language sql
stable
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select json_build_object(
    'runs', json_agg(
      json_build_array(p.rule_id, p.result, p.triggered_by, svc.epoch_ms(p.executed_at))
    ),
    'lastAt', (array_agg(p.executed_at))[count(*)],
    'lastSeq', (array_agg(p.execution_seq))[count(*)]
  )
  from (
    select l.rule_id, l.result, l.triggered_by, l.executed_at, l.execution_seq
    from svc.rule_executions as l
    where l.environment_id = read_recompute_executions.environment_id
      and l.customer_id = read_recompute_executions.customer_id
      and l.generation = read_recompute_executions.generation
      and (l.executed_at, l.execution_seq) > (read_recompute_executions.after_at::timestamptz, read_recompute_executions.after_seq)
    order by l.executed_at, l.execution_seq
    limit read_recompute_executions.row_limit
  ) as p;
$$;

comment on function svc_api.read_recompute_executions(integer, text, integer, text, bigint, integer) is
  'The next rule executions in the current log of one customer.';
