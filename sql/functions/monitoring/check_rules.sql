-- RULES_FAILING if rules ended in error in the last seven days, with the last error of each of up to 50; else null. At most the latest
-- 10,001 errors are read; those of former histories among them do not count.
-- Raises nothing, locks nothing.
create or replace function svc.check_rules(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
as $$
  with latest as (
    select x.customer_id, x.generation, x.rule_id, x.error, x.executed_at, x.execution_seq, x.config_version
    from svc.rule_executions as x
    where x.environment_id = check_rules.environment_id
      and x.result = 'error'
      and x.executed_at > now() - interval '7 days'
      and x.execution_seq >= 0
    order by x.executed_at desc, x.execution_seq desc
    limit 10001
  ),
  failed as (
    select x.rule_id, x.error, x.executed_at, x.execution_seq, x.config_version
    from latest as x
    -- By key: a scalar sub-query is never turned into a join that reads all customers.
    where x.generation = (
      select c.generation from svc.customers as c
      where c.environment_id = check_rules.environment_id and c.customer_id = x.customer_id
    )
  ),
  rule as (
    select distinct on (f.rule_id)
      f.rule_id, f.error, f.executed_at, f.config_version, count(*) over (partition by f.rule_id) as errors
    from failed as f
    order by f.rule_id, f.executed_at desc, f.execution_seq desc
  )
  select svc.finding(
    'RULES_FAILING',
    'problem',
    svc.count_text(sum(r.errors)::bigint, 'rule execution', 'rule executions') || ' ended in error in the last seven days.',
    format(
      'Correct the rule, or what it reads, and deploy. The log: svc rules logs --result error --detail --env %s',
      check_rules.environment_name
    ),
    sum(r.errors)::bigint,
    json_build_object('rules', json_agg(
      json_build_object(
        'ruleId', r.rule_id, 'errors', least(r.errors, 10000), 'lastError', r.error, 'lastExecutedAt', svc.iso(r.executed_at),
        'configVersion', 'v' || r.config_version
      )
      order by r.errors desc, r.rule_id
    ) filter (where r.turn <= 50))
  )
  from (select k.*, row_number() over (order by k.errors desc, k.rule_id) as turn from rule as k) as r
  having count(*) > 0;
$$;

comment on function svc.check_rules(integer, text) is 'Diagnostics: rules that end in error.';
