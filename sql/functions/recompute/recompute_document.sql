-- A recompute, a dry run or a preview in the format of lists and changes: status, pins, since when the replayed history is complete (null:
-- all of it), progress, and the results so far. A preview has the hash and the size of its sample instead of the customer.
-- Raises nothing, locks nothing.
create or replace function svc.recompute_document(recompute svc.recomputes, environment_name text)
returns json
language sql
stable
set search_path = ''
return svc.with_members(
  svc.with_members(
    json_build_object(
      'id', (recompute).recompute_id,
      'status', (recompute).status,
      'dry_run', (recompute).kind <> 'recompute',
      'environment', recompute_document.environment_name
    ),
    case
      when (recompute).kind = 'preview' then json_build_object('sample', (recompute).sample_size, 'hash', (recompute).hash)
      else json_build_object('customerId', (recompute).customer_id)
    end
  ),
  json_build_object(
    'pins', json_build_object(
      'configVersion', 'v' || (recompute).version,
      'evaluatedAt', svc.iso((recompute).pinned_at),
      'customersCreatedThrough', svc.iso((recompute).pinned_at)
    ),
    'exactFrom', svc.iso((recompute).exact_from),
    'attempt', (recompute).attempt,
    'nextAttemptAt', svc.iso((recompute).next_attempt_at),
    'error', (recompute).error,
    'progress', json_build_object('customersTotal', (recompute).customers_total, 'customersDone', (recompute).customers_done),
    'result', json_build_object(
      'lifecycleChanged', (recompute).lifecycle_changed,
      'healthChanged', (recompute).health_changed,
      'segmentsEntered', (recompute).segments_entered,
      'segmentsExited', (recompute).segments_exited,
      'signalsRaised', (recompute).signals_raised,
      'signalsCleared', (recompute).signals_cleared,
      'customersChanged', (recompute).customers_changed,
      'rules', (recompute).rules_added,
      'rulesRemoved', (recompute).rules_removed,
      'emissions', (recompute).emissions_added
    ),
    'requestedBy', (recompute).requested_by,
    'requestedAt', svc.iso((recompute).requested_at),
    'startedAt', svc.iso((recompute).started_at),
    'finishedAt', svc.iso((recompute).finished_at)
  )
);

comment on function svc.recompute_document(svc.recomputes, text) is 'A recompute or preview in the format of lists and changes.';
