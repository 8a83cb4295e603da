-- Writes the results of customers' replays, one transaction each, in their order, until one has changed since it was read or all are
-- written: done is then the number written. customers and states are what svc_api.compare_replays takes. A procedure without settings,
-- because only such can commit; the two functions do the work.
-- Raises what those raise; the customers before stay written. Locks what they lock, of one customer at a time.
create or replace procedure svc_api.apply_replays(
  environment_id integer, recompute_id text, attempt integer, version integer, customers json, states text, inout done integer
)
language plpgsql
as $$
declare
  _r record;
begin
  for _r in
    select r.* from svc_api.compare_replays(apply_replays.environment_id, apply_replays.customers, apply_replays.states) as r
  loop
    exit when svc_api.apply_replay(
      apply_replays.environment_id, apply_replays.recompute_id, apply_replays.attempt, apply_replays.version, _r.customer_id,
      _r.revision, _r.generation, _r.lifecycle, _r.lifecycle_entered_at, _r.last_event_at, _r.evaluated_through, _r.next_due_at,
      _r.held_until, _r.health, _r.state, _r.difference, _r.weight, _r.counts, _r.emissions, _r.transitions, _r.blocked, _r.journeys,
      _r.memberships, _r.health_scores, _r.rule_executions, _r.signals, _r.has_stale_rows, _r.changes
    ) = 'changed';
    commit;
    apply_replays.done := apply_replays.done + 1;
  end loop;
end;
$$;

comment on procedure svc_api.apply_replays(integer, text, integer, integer, json, text, integer) is
  'Writes the results of customers'' replays, one transaction each.';
