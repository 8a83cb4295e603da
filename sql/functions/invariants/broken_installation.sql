-- Contradictions in organizations, environments and their sequences. Sequences are read as of now, not as of the statement's
-- snapshot; they only rise.
-- Raises nothing, locks nothing.
create or replace function svc.broken_installation()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with activated as (
    select distinct on (a.environment_id) a.environment_id, a.version
    from svc.config_activations as a
    order by a.environment_id, a.activation_seq desc
  ),
  used as materialized (
    select
      h.environment_id,
      (select max(b.batch_seq) from svc.ingest_batches as b where b.environment_id = h.environment_id) as batch_seq,
      (select max(b.evaluation_seq) from svc.emission_batches as b where b.environment_id = h.environment_id) as evaluation_seq
    from svc.homes as h
  ),
  numbers as (
    -- Null for a sequence that was never used or does not exist.
    select e.environment_id, c.counter, coalesce(svc.last_number(to_regclass(c.counter)), -1) as last, c.used
    from svc.environments as e
    left join used as u on u.environment_id = e.environment_id
    cross join lateral (
      values ('svc.batch_seq_' || e.environment_id, u.batch_seq), ('svc.evaluation_seq_' || e.environment_id, u.evaluation_seq)
    ) as c (counter, used)
    union all
    select null, c.counter, c.last_value - (not c.is_called)::integer, c.used
    from (
      select
        'iam.audit_log_audit_seq_seq' as counter, s.last_value, s.is_called, (select max(t.audit_seq) from iam.audit_log as t) as used
      from iam.audit_log_audit_seq_seq as s
      union all
      select 'svc.projects_project_id_seq', s.last_value, s.is_called, (select max(t.project_id) from svc.projects as t)
      from svc.projects_project_id_seq as s
      union all
      select 'svc.environments_environment_id_seq', s.last_value, s.is_called, (select max(t.environment_id) from svc.environments as t)
      from svc.environments_environment_id_seq as s
      union all
      select
        'svc.config_activations_activation_seq_seq', s.last_value, s.is_called,
        (select max(t.activation_seq) from svc.config_activations as t)
      from svc.config_activations_activation_seq_seq as s
      union all
      select
        'svc.lifecycle_transitions_transition_seq_seq', s.last_value, s.is_called,
        (select max(t.transition_seq) from svc.lifecycle_transitions as t)
      from svc.lifecycle_transitions_transition_seq_seq as s
      union all
      select 'svc.health_scores_score_seq_seq', s.last_value, s.is_called, (select max(t.score_seq) from svc.health_scores as t)
      from svc.health_scores_score_seq_seq as s
      union all
      select
        'svc.rule_executions_execution_seq_seq', s.last_value, s.is_called, (select max(t.execution_seq) from svc.rule_executions as t)
      from svc.rule_executions_execution_seq_seq as s
      union all
      select 'svc.recomputes_recompute_seq_seq', s.last_value, s.is_called, (select max(t.recompute_seq) from svc.recomputes as t)
      from svc.recomputes_recompute_seq_seq as s
      union all
      select 'svc.trend_changes_change_seq_seq', s.last_value, s.is_called, (select max(t.change_seq) from svc.trend_changes as t)
      from svc.trend_changes_change_seq_seq as s
    ) as c
  )
  select
    'active_versions_are_those_activated_last', e.environment_id,
    format('%s is active; %s was activated last', coalesce('v' || e.active_version, 'none'), coalesce('v' || a.version, 'none'))
  from svc.environments as e
  left join activated as a on a.environment_id = e.environment_id
  where e.active_version is distinct from a.version
  union all
  select 'organizations_have_an_owner', null, format('the organization %s', o.slug)
  from iam.organizations as o
  left join iam.memberships as m on m.organization_id = o.organization_id and m.role = 'owner'
  where m.user_id is null
  union all
  select
    'numbers_are_ahead_of_what_is_stored', n.environment_id,
    format(
      case when to_regclass(n.counter) is null then '%s is missing, and %3$s is in use' else '%s is at %s, and %s is in use' end,
      n.counter, greatest(n.last, 0), coalesce(n.used, 0)
    )
  from numbers as n
  where coalesce(n.used, 0) > n.last
$$;

comment on function svc.broken_installation() is 'Invariants: organizations, environments and sequences.';
