-- A run of a rule as lists and emissions show it; detail adds the conditions and the action, superseded whether a recompute replaced it,
-- unless null.
-- Raises nothing, locks nothing.
create or replace function svc.rule_execution_item(execution svc.rule_executions, detail boolean, superseded boolean)
returns json
language sql
stable
set search_path = ''
begin atomic
  select
    case
      when rule_execution_item.superseded is null then d.item
      else svc.with_members(d.item, json_build_object('superseded', rule_execution_item.superseded))
    end
  from (
    select json_build_object(
      'customerId', (execution).customer_id,
      'ruleId', (execution).rule_id,
      'result', (execution).result,
      'triggeredBy', (execution).triggered_by,
      'executedAt', svc.iso((execution).executed_at),
      'cause', json_build_object('type', (execution).cause_type, 'id', (execution).cause_id),
      'configVersion', 'v' || (execution).config_version,
      'error', (execution).error,
      'emissionId', svc.emission_id((execution).emission_seq)
    ) as item
  ) as r
  cross join lateral (
    select
      case
        when not rule_execution_item.detail then r.item
        else svc.with_members(r.item, json_build_object('conditions', (execution).conditions, 'action', (execution).action))
      end as item
  ) as d;
end;

comment on function svc.rule_execution_item(svc.rule_executions, boolean, boolean) is 'A run of a rule as lists and emissions show it.';
