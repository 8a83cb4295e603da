-- Contradictions between a customer's row and its logs. In a log, the rows of the customer's generation count; older ones are queued for
-- removal, except rule executions that emitted something; newer ones do not exist, because whoever writes them raises the generation in
-- the same transaction.
-- Raises nothing, locks nothing.
create or replace function svc.broken_logs()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with generations as (
    select 'svc.lifecycle_transitions' as log, t.environment_id, t.customer_id, t.generation, true as is_removed
    from svc.lifecycle_transitions as t
    group by t.environment_id, t.customer_id, t.generation
    union all
    select 'svc.health_scores', h.environment_id, h.customer_id, h.generation, true
    from svc.health_scores as h
    group by h.environment_id, h.customer_id, h.generation
    union all
    select 'svc.rule_executions', x.environment_id, x.customer_id, x.generation, bool_or(x.emission_seq is null)
    from svc.rule_executions as x
    group by x.environment_id, x.customer_id, x.generation
    union all
    select 'svc.superseded_logs', l.environment_id, l.customer_id, l.generation, false
    from svc.superseded_logs as l
  ),
  queued as (
    select l.environment_id, l.customer_id, max(l.generation) as generation
    from svc.superseded_logs as l
    group by l.environment_id, l.customer_id
  ),
  transitions as (
    select
      t.environment_id, t.customer_id, t.transition_seq, t.from_state, t.to_state, t.transitioned_at,
      lag(t.to_state) over in_order as former_state,
      lead(t.to_state) over in_order is null as is_last
    from svc.lifecycle_transitions as t
    join svc.customers as c
      on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
    window in_order as (partition by t.environment_id, t.customer_id order by t.transition_seq)
  ),
  scores as (
    select distinct on (h.environment_id, h.customer_id) h.environment_id, h.customer_id, h.overall, h.band
    from svc.health_scores as h
    join svc.customers as c
      on c.environment_id = h.environment_id and c.customer_id = h.customer_id and c.generation = h.generation
    order by h.environment_id, h.customer_id, h.score_seq desc
  )
  select
    'logs_are_of_known_generations', g.environment_id,
    format('%s has the generation %s of the customer "%s", who is at generation %s', g.log, g.generation, g.customer_id, c.generation)
  from generations as g
  join svc.customers as c on c.environment_id = g.environment_id and c.customer_id = g.customer_id
  where g.generation > c.generation
  union all
  select
    'superseded_logs_are_queued_for_removal', g.environment_id,
    format('%s has the generation %s of the customer "%s", who is at generation %s', g.log, g.generation, g.customer_id, c.generation)
  from generations as g
  join svc.customers as c on c.environment_id = g.environment_id and c.customer_id = g.customer_id
  left join queued as q on q.environment_id = g.environment_id and q.customer_id = g.customer_id
  where g.is_removed and g.generation < c.generation and (q.generation > g.generation) is not true
  union all
  select
    'runs_lead_to_what_they_emitted', x.environment_id,
    format('the run %s of the rule "%s" for the customer "%s" emitted %s', x.execution_seq, x.rule_id, x.customer_id, x.emission_seq)
  from svc.rule_executions as x
  left join svc.emissions as m on m.environment_id = x.environment_id and m.emission_seq = x.emission_seq
  where x.emission_seq is not null
    and (x.result, x.customer_id, x.executed_at, x.cause_type) is distinct from ('pass', m.customer_id, m.emitted_at, m.cause_type)
  union all
  select
    'transitions_follow_each_other', t.environment_id,
    format(
      'the transition %s of the customer "%s" leaves %s after %s was entered', t.transition_seq, t.customer_id,
      coalesce('"' || t.from_state || '"', 'nothing'), coalesce('"' || t.former_state || '"', 'nothing')
    )
  from transitions as t
  where t.from_state is distinct from t.former_state
  union all
  select
    'states_are_what_was_entered_last', c.environment_id,
    format(
      'the customer "%s" is in %s since %s; the last transition leads to %s at %s', c.customer_id,
      coalesce('"' || c.lifecycle || '"', 'no state'), coalesce(svc.iso(c.lifecycle_entered_at), 'never'),
      coalesce('"' || t.to_state || '"', 'no state'), coalesce(svc.iso(t.transitioned_at), 'never')
    )
  from svc.customers as c
  left join transitions as t on t.environment_id = c.environment_id and t.customer_id = c.customer_id and t.is_last
  where (c.lifecycle, c.lifecycle_entered_at) is distinct from (t.to_state, t.transitioned_at)
  union all
  select
    'health_is_what_was_scored_last', c.environment_id,
    format(
      'the customer "%s" has the health %s (%s); the last score is %s (%s)', c.customer_id, coalesce(c.health_overall::text, 'none'),
      coalesce(c.health_band, '-'), coalesce(s.overall::text, 'none'), coalesce(s.band, '-')
    )
  from svc.customers as c
  left join scores as s on s.environment_id = c.environment_id and s.customer_id = c.customer_id
  where (c.health_overall, c.health_band) is distinct from (s.overall, s.band)
  union all
  select
    'events_trigger_a_rule_once', x.environment_id,
    format('the rule "%s" ran %s times for the event %s of the customer "%s"', x.rule_id, count(*), x.cause_id, x.customer_id)
  from svc.rule_executions as x
  where x.cause_type = 'event'
  group by x.environment_id, x.customer_id, x.generation, x.rule_id, x.cause_id
  having count(*) > 1
$$;

comment on function svc.broken_logs() is 'Invariants: customers and their logs.';
