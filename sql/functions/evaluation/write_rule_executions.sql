-- Writes executions of rules. Instants are milliseconds. `emission` of an execution is the position of what it emitted in the emissions
-- of the call, which evaluation_seqs number, 65,536 each; null evaluation_seqs mean that they emitted nothing, as in a replay.
-- Raises the constraints' errors. Locks nothing more than the rows it writes; the caller has locked the customers.
create or replace function svc.write_rule_executions(
  environment_id integer, version integer, rule_executions json, evaluation_seqs bigint[]
)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into svc.rule_executions (
    environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, cause_id,
    config_version, generation, emission_seq
  )
  select
    h.environment_id, r."customerId", r.rule, r.result, r."triggeredBy", r.conditions, r.action, r.error,
    timestamptz 'epoch' + r.at * interval '1 millisecond', r."causeType", r."causeId", write_rule_executions.version,
    r.generation, write_rule_executions.evaluation_seqs[1 + r.emission / 65536] * 65536 + r.emission % 65536
  from svc.homes as h
  cross join json_to_recordset(write_rule_executions.rule_executions) as r (
    "customerId" text, rule text, result text, "triggeredBy" text, conditions json, action json, error text, at bigint,
    "causeType" text, "causeId" text, generation integer, emission integer
  )
  where h.environment_id = write_rule_executions.environment_id
$$;

comment on function svc.write_rule_executions(integer, integer, json, bigint[]) is 'Writes executions of rules.';
