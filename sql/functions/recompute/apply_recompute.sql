-- Writes the results of one customer's replay, with the job's progress, in the caller's transaction, which may have appended rows to its
-- logs. customer is an element of what svc_api.compare_replays takes, or {customerId} if there is nothing to write; the answer is that of
-- svc_api.apply_replay.
-- Raises and locks what that does.
create or replace function svc_api.apply_recompute(
  environment_id integer, recompute_id text, attempt integer, version integer, customer json
)
returns text
language sql
volatile
security definer
set search_path = ''
as $$
  select svc_api.apply_replay(
    apply_recompute.environment_id, apply_recompute.recompute_id, apply_recompute.attempt, apply_recompute.version, r.customer_id,
    r.revision, r.generation, r.lifecycle, r.lifecycle_entered_at, r.last_event_at, r.evaluated_through, r.next_due_at, r.held_until,
    r.health, r.state, r.difference, r.weight, r.counts, r.emissions, r.transitions, r.blocked, r.journeys, r.memberships,
    r.health_scores, r.rule_executions, r.signals, r.has_stale_rows, r.changes
  )
  from svc_api.compare_replays(apply_recompute.environment_id, json_build_array(apply_recompute.customer), null) as r;
$$;

comment on function svc_api.apply_recompute(integer, text, integer, integer, json) is
  'Writes the results of one customer''s replay, with the progress of the recompute.';
