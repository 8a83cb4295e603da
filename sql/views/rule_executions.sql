create or replace view svc_inspect.rule_executions as
select
  p.slug as project, e.name as environment, t.customer_id, t.rule_id as rule, t.result, t.triggered_by, t.conditions, t.action, t.error,
  t.executed_at, t.cause_type, t.cause_id, 'v' || t.config_version as config_version, t.execution_seq, o.slug as organization
from svc.rule_executions as t
-- A recompute replaces a customer's history: only rows of the current generation count.
join svc.customers as c
  on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
join svc.environments as e on e.environment_id = t.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.rule_executions is 'The log of rule executions in each customer''s current history.';
comment on column svc_inspect.rule_executions.project is 'Slug of the project.';
comment on column svc_inspect.rule_executions.environment is 'test or live.';
comment on column svc_inspect.rule_executions.customer_id is 'The customer.';
comment on column svc_inspect.rule_executions.rule is 'The rule.';
comment on column svc_inspect.rule_executions.result is 'pass, fail, skip or error.';
comment on column svc_inspect.rule_executions.triggered_by is 'What triggered the rule, for example event:<name>.';
comment on column svc_inspect.rule_executions.conditions is 'The result of the condition and of each of its parts.';
comment on column svc_inspect.rule_executions.action is 'The action of the rule when it passes.';
comment on column svc_inspect.rule_executions.error is 'Why it could not be run.';
comment on column svc_inspect.rule_executions.executed_at is 'The instant of the run.';
comment on column svc_inspect.rule_executions.cause_type is 'event, identify, timer or job.';
comment on column svc_inspect.rule_executions.cause_id is 'Id of the event or job.';
comment on column svc_inspect.rule_executions.config_version is 'The version it was evaluated under.';
comment on column svc_inspect.rule_executions.execution_seq is 'Order of the executions.';
comment on column svc_inspect.rule_executions.organization is 'Slug of the organization.';
