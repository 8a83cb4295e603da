-- Opens one cursor for each kind of a customer's rows, named `export_` and the member of the document that it fills, all
-- on the caller's snapshot; a row of each is {item: JSON text}. Answers the members that are not lists. svc_api.fetch_export reads the
-- cursors in parts, so that neither side holds more than a part, however long the history is.
-- Raises nothing. Locks nothing. The cursors end with the transaction.
create or replace function svc.open_customer_export(environment_id integer, customer_id text)
returns json
language plpgsql
-- Not stable, because it leaves cursors open.
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in evaluation; the plans are made here.
set enable_seqscan = off
as $$
declare
  _id constant integer := open_customer_export.environment_id;
  _customer constant text := open_customer_export.customer_id;
  _identifies refcursor := 'export_identifies';
  _events refcursor := 'export_events';
  _transitions refcursor := 'export_transitions';
  _blocked refcursor := 'export_blockedTransitions';
  _memberships refcursor := 'export_memberships';
  _journey_runs refcursor := 'export_journeyRuns';
  _health_scores refcursor := 'export_healthScores';
  _rule_executions refcursor := 'export_ruleExecutions';
  _signals refcursor := 'export_signals';
  _emissions refcursor := 'export_emissions';
  _deliveries refcursor := 'export_deliveries';
  _recomputes refcursor := 'export_recomputes';
  _quarantined refcursor := 'export_quarantined';
  _retired_keys refcursor := 'export_retiredKeys';
  _row record;
begin
  open _identifies no scroll for
  select json_build_object(
    'acceptedAt', svc.iso(t.accepted_at), 'traits', t.traits, 'status', case when i.waits then 'pending' else 'processed' end
  )::text as item
  from svc.trait_updates as t
  left join lateral (
    select true as waits from svc.inbox as k
    where k.environment_id = _id and k.customer_id = _customer and k.seq = t.operation_seq
    limit 1
  ) as i on true
  where t.environment_id = _id and t.customer_id = _customer
  order by t.operation_seq;

  open _events no scroll for
  select json_build_object(
    'eventId', svc.event_id(e.event_seq), 'id', svc.event_id(e.event_seq), 'event', e.event, 'properties', e.properties,
    'occurredAt', svc.iso(e.occurred_at), 'acceptedAt', svc.iso(e.accepted_at), 'idempotencyKey', k.idempotency_key,
    'status', case when i.waits then 'pending' else 'processed' end
  )::text as item
  from svc.events as e
  left join lateral (
    select k.idempotency_key from svc.idempotency_keys as k
    where k.environment_id = _id and k.idempotency_key = e.idempotency_key and k.event_seq = e.event_seq
    limit 1
  ) as k on true
  left join lateral (
    select true as waits from svc.inbox as k
    where k.environment_id = _id and k.customer_id = _customer and k.seq = e.event_seq
    limit 1
  ) as i on true
  where e.environment_id = _id and e.customer_id = _customer
  order by e.occurred_at, e.event_seq;

  open _transitions no scroll for
  select json_build_object(
    'from', t.from_state, 'to', t.to_state, 'at', svc.iso(t.transitioned_at),
    'cause', json_build_object('type', t.cause_type, 'id', t.cause_id), 'configVersion', 'v' || t.config_version,
    'generation', t.generation
  )::text as item
  from svc.lifecycle_transitions as t
  where t.environment_id = _id and t.customer_id = _customer
  order by t.transition_seq;

  open _blocked no scroll for
  select json_build_object('from', b.from_state, 'to', b.to_state, 'at', svc.iso(b.blocked_at))::text as item
  from svc.blocked_transitions as b
  where b.environment_id = _id and b.customer_id = _customer
  order by b.from_state, b.to_state;

  open _memberships no scroll for
  select json_build_object(
    'segment', m.segment_id, 'enteredAt', svc.iso(m.entered_at), 'exitedAt', svc.iso(m.exited_at)
  )::text as item
  from svc.segment_memberships as m
  where m.environment_id = _id and m.customer_id = _customer
  order by m.segment_id;

  open _journey_runs no scroll for
  select json_build_object(
    'journeyId', j.journey_id, 'run', j.run, 'status', j.status, 'currentStep', j.current_step, 'stepsData', j.steps,
    'startedAt', svc.iso(j.started_at), 'completedAt', svc.iso(j.completed_at), 'expiredAt', svc.iso(j.expired_at)
  )::text as item
  from svc.journey_runs as j
  where j.environment_id = _id and j.customer_id = _customer
  order by j.journey_id, j.run;

  open _health_scores no scroll for
  select json_build_object(
    'overall', trim_scale(h.overall), 'components', h.components, 'band', h.band, 'at', svc.iso(h.scored_at),
    'cause', json_build_object('type', h.cause_type, 'id', h.cause_id), 'configVersion', 'v' || h.config_version,
    'generation', h.generation
  )::text as item
  from svc.health_scores as h
  where h.environment_id = _id and h.customer_id = _customer
  order by h.generation, h.score_seq;

  open _rule_executions no scroll for
  select json_build_object(
    'ruleId', x.rule_id, 'result', x.result, 'triggeredBy', x.triggered_by, 'conditions', x.conditions, 'action', x.action,
    'error', x.error, 'executedAt', svc.iso(x.executed_at),
    'cause', json_build_object('type', x.cause_type, 'id', x.cause_id), 'configVersion', 'v' || x.config_version,
    'generation', x.generation
  )::text as item
  from svc.rule_executions as x
  where x.environment_id = _id and x.customer_id = _customer
  order by x.generation, x.execution_seq;

  open _signals no scroll for
  select json_build_object(
    'signalId', s.signal_id, 'severity', s.severity, 'message', s.message, 'raisedAt', svc.iso(s.raised_at),
    'clearedAt', svc.iso(s.cleared_at)
  )::text as item
  from svc.signals as s
  where s.environment_id = _id and s.customer_id = _customer
  order by s.signal_id;

  open _emissions no scroll for
  select json_build_object(
    'id', svc.emission_id(m.emission_seq), 'eventType', m.event_type, 'source', m.source, 'metadata', m.metadata,
    'timestamp', svc.iso(m.emitted_at), 'cause', json_build_object('type', m.cause_type, 'id', m.cause_id),
    'configVersion', 'v' || m.config_version, 'at', svc.iso(m.emitted_at), 'type', m.event_type
  )::text as item
  from svc.emissions as m
  where m.environment_id = _id and m.customer_id = _customer
  order by m.emission_seq;

  open _deliveries no scroll for
  select json_build_object(
    'id', svc.emission_id(d.emission_seq), 'webhookId', d.webhook_id, 'url', svc.url_origin(w.url), 'status', d.status,
    'nextAttemptAt', case when d.status = 'pending' then svc.iso(d.next_attempt_at) end, 'finishedAt', svc.iso(d.finished_at),
    'body', (
      select b.body::json
      from svc.delivery_bodies as b
      where b.environment_id = _id and b.webhook_id = d.webhook_id and b.emission_seq = d.emission_seq
    ),
    'attempts', (
      select coalesce(
        json_agg(
          json_build_object(
            'attempt', a.attempt, 'at', svc.iso(a.attempted_at), 'latencyMs', a.latency_ms, 'statusCode', a.status_code,
            'error', a.error, 'response', a.response
          )
          order by a.attempt
        ),
        '[]'
      )
      from svc.delivery_attempts as a
      where a.environment_id = _id and a.webhook_id = d.webhook_id and a.emission_seq = d.emission_seq
    )
  )::text as item
  from svc.emissions as m
  cross join lateral (
    select k.webhook_id, k.url from svc.webhooks as k where k.environment_id = _id order by k.webhook_id offset 0
  ) as w
  cross join lateral (
    select k.* from svc.deliveries as k
    where k.environment_id = _id and k.webhook_id = w.webhook_id and k.emission_seq = m.emission_seq
    limit 1
  ) as d
  where m.environment_id = _id and m.customer_id = _customer
  order by m.emission_seq;

  open _recomputes no scroll for
  select json_build_object(
    'recomputeId', r.recompute_id, 'kind', r.kind, 'at', svc.iso(r.requested_at), 'difference', c.difference
  )::text as item
  from (
    select k.recompute_id from svc.recompute_customers as k where k.environment_id = _id and k.customer_id = _customer
    union
    -- Those of this customer alone, even if they found nothing.
    select k.recompute_id from svc.recomputes as k where k.environment_id = _id and k.customer_id = _customer
  ) as o
  cross join lateral (
    select k.recompute_id, k.kind, k.requested_at, k.recompute_seq
    from svc.recomputes as k
    where k.environment_id = _id and k.recompute_id = o.recompute_id
    limit 1
  ) as r
  left join lateral (
    select k.difference from svc.recompute_customers as k
    where k.environment_id = _id and k.recompute_id = o.recompute_id and k.customer_id = _customer
    limit 1
  ) as c on true
  order by r.recompute_seq;

  open _quarantined no scroll for
  select json_build_object(
    'eventId', case when q.event is not null then svc.event_id(q.seq) end, 'operation', coalesce(q.call, q.operation),
    'quarantinedAt', svc.iso(q.quarantined_at), 'message', q.message
  )::text as item
  from svc.quarantined_operations as q
  where q.environment_id = _id and q.customer_id = _customer
  order by q.seq;

  open _retired_keys no scroll for
  select json_build_object(
    'eventId', svc.event_id(k.event_seq), 'id', svc.event_id(k.event_seq), 'idempotencyKey', k.idempotency_key,
    'removedAt', svc.iso(k.retired_at)
  )::text as item
  from svc.retired_keys as k
  where k.environment_id = _id and k.customer_id = _customer
  order by k.retired_at, k.event_seq;

  select c.generation, c.set_aside_at, c.set_aside_error, c.state into _row
  from svc.customers as c
  where c.environment_id = _id and c.customer_id = _customer;
  return json_build_object(
    'customerId', _customer,
    'environment', (select e.name from svc.environments as e where e.environment_id = _id),
    'exportedAt', svc.iso(now()),
    'customer', svc.state_document(_id, _customer),
    'generation', _row.generation,
    'setAside', case when _row.set_aside_at is not null
      then json_build_object('at', svc.iso(_row.set_aside_at), 'error', _row.set_aside_error)
    end,
    'evaluation', _row.state
  );
end;
$$;

comment on function svc.open_customer_export(integer, text) is
  'Opens cursors on all data of a customer; answers the members of the document that are not lists.';
