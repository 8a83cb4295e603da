-- A rule execution in the format of lists and emissions; detail adds the conditions and the action; a non-null superseded is shown as a
-- member that says whether a recompute replaced it.
-- Raises nothing, locks nothing.
create or replace function svc.rule_execution_item(
  customer_id text, rule_id text, result text, triggered_by text, executed_at timestamptz, cause_type text, cause_id text,
  config_version integer, error text, emission_seq bigint, conditions json, action json, detail boolean, superseded boolean
)
returns json
language sql
stable
set search_path = ''
as $$
  select
    case
      when rule_execution_item.superseded is null then d.item
      else svc.with_members(d.item, json_build_object('superseded', rule_execution_item.superseded))
    end
  from (
    select json_build_object(
      'customerId', rule_execution_item.customer_id,
      'ruleId', rule_execution_item.rule_id,
      'result', rule_execution_item.result,
      'triggeredBy', rule_execution_item.triggered_by,
      'executedAt', svc.iso(rule_execution_item.executed_at),
      'cause', json_build_object('type', rule_execution_item.cause_type, 'id', rule_execution_item.cause_id),
      'configVersion', 'v' || rule_execution_item.config_version,
      'error', rule_execution_item.error,
      'emissionId', svc.emission_id(rule_execution_item.emission_seq)
    ) as item
  ) as r
  cross join lateral (
    select
      case
        when not rule_execution_item.detail then r.item
        else svc.with_members(r.item, json_build_object('conditions', rule_execution_item.conditions, 'action', rule_execution_item.action))
      end as item
  ) as d;
$$;

comment on function svc.rule_execution_item(
  text, text, text, text, timestamptz, text, text, integer, text, bigint, json, json, boolean, boolean
) is 'A rule execution in the format of lists and emissions.';
