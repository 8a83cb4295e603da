create table svc.rule_executions (
  environment_id integer not null,
  execution_seq bigint generated always as identity,
  customer_id text not null collate "C",
  rule_id text not null collate "C",
  result text not null,
  triggered_by text not null,
  -- json, not jsonb: an explanation is read in the order in which it was written.
  conditions json not null,
  action json not null,
  error text,
  executed_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  generation integer not null default 0,
  emission_seq bigint,
  -- Every read is of a customer's present generation or by one of the indexes below.
  primary key (environment_id, customer_id, generation, executed_at, execution_seq),
  constraint rule_executions_result_known check (result in ('pass', 'fail', 'skip', 'error')),
  constraint rule_executions_error_said check ((error is not null) = (result = 'error')),
  constraint rule_executions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.rule_executions is
  'The log of the rules: every run and its outcome. Insert-only; readers see the customer''s present generation.';
comment on column svc.rule_executions.environment_id is 'The environment.';
comment on column svc.rule_executions.execution_seq is 'Order of writing.';
comment on column svc.rule_executions.customer_id is 'The customer.';
comment on column svc.rule_executions.rule_id is 'The rule.';
comment on column svc.rule_executions.result is 'pass, fail, skip (cooldown or once) or error.';
comment on column svc.rule_executions.triggered_by is
  'event:<name>, traits, or what happened: lifecycle.entered:<state>, lifecycle.exited:<state>, journey.started:<id>,
  journey.step_completed:<id>.<step>, journey.completed:<id>, journey.expired:<id>, segment.entered:<id>, segment.exited:<id>,
  health.entered:<band>, health.exited:<band>, signal.raised:<id>, signal.cleared:<id>.';
comment on column svc.rule_executions.conditions is 'How the rule''s condition came out, part by part; empty for a rule without one.';
comment on column svc.rule_executions.action is 'What the rule does when it passes.';
comment on column svc.rule_executions.error is 'Why it could not be run, where the result is error.';
comment on column svc.rule_executions.executed_at is 'The instant of the run: of the operation or the due instant that caused it.';
comment on column svc.rule_executions.cause_type is 'event, identify, timer or job.';
comment on column svc.rule_executions.cause_id is 'Id of the event or job.';
comment on column svc.rule_executions.config_version is 'The version evaluated.';
comment on column svc.rule_executions.generation is 'That of the customer when it was written.';
comment on column svc.rule_executions.emission_seq is
  'What it emitted, which no other run made; null for nothing, for runs of a replay, and of versions of the service before this column.';
-- A list asks once for each result and merges. Every row passes the predicates, but only a statement that states one may take that index.
create index rule_executions_result_idx on svc.rule_executions (environment_id, result, executed_at, execution_seq)
where execution_seq >= 0;
create index rule_executions_rule_idx on svc.rule_executions (environment_id, rule_id, result, executed_at, execution_seq)
where rule_id <> '';
