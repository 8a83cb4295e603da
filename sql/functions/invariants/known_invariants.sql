-- What must hold at every instant, in one sentence each, and what to do if it does not. In the order in which they are reported.
-- Raises nothing, locks nothing.
create or replace function svc.known_invariants()
returns table (place integer, invariant text, holds text, advice text)
language sql
immutable
set search_path = ''
as $$
  values
    (
      1, 'acknowledged_events_are_stored',
      'Every event that was acknowledged is stored, unless it was erased or removed because of its age.',
      'Find out who deleted rows by SQL, or which restore was incomplete; then restore a backup next to this database, or '
      'have senders send the period again: their idempotency keys keep existing events from being stored twice.'
    ),
    (
      2, 'calls_hold_what_they_stored',
      'No call has more operations than it stored.',
      'Rows were added by SQL, or svc.ingest_batches was changed. Delete what no sender sent, with svc customers erase '
      'if it is a whole customer.'
    ),
    (
      3, 'operations_belong_to_a_call',
      'Every event and every trait update belongs to the call that stored it.',
      'Restore the missing rows of svc.ingest_batches from a backup: without them retention never removes these operations, '
      'and new customers among them are not evaluated.'
    ),
    (
      4, 'removal_leaves_nothing_behind',
      'Nothing remains of what was removed because of its age.',
      'Otherwise it will never be removed. Set svc.retention.swept_through of the environment to 0 and next_after to null; the '
      'next sweep, within minutes, scans everything again.'
    ),
    (
      5, 'events_have_their_key',
      'Every event that was sent with an idempotency key has that key, and no other event has it.',
      'The event would be stored twice if it were sent again. Restore the rows of svc.idempotency_keys from a backup.'
    ),
    (
      6, 'keys_have_their_event',
      'Every idempotency key belongs to an event that is stored, or was removed because of its age.',
      'The sender of such a key was answered that its event is stored. Restore the event from a backup; if there is none, '
      'delete the key, and have the event sent again.'
    ),
    (
      7, 'retired_keys_are_known',
      'Keys of removed events still prevent repetitions until they are removed, too.',
      'Restore the rows of svc.idempotency_keys from a backup, or delete those of svc.retired_keys, which only say when a key '
      'is removed.'
    ),
    (
      8, 'what_waits_is_stored',
      'Every operation that waits for evaluation is stored.',
      'Restore the operation from a backup. Otherwise delete its row of svc.inbox: it can never be evaluated.'
    ),
    (
      9, 'what_is_put_off_is_due_in_time',
      'Every event in the future is evaluated when its time has come; only operations of customers that are set aside wait '
      'without limit.',
      'Set not_before of these rows of svc.inbox to null: the next evaluation, within a second, defers future events again.'
    ),
    (
      10, 'operations_wait_or_are_evaluated',
      'Every operation waits for evaluation or was evaluated.',
      'Recompute the customers that exist: svc recompute --customer ID. Insert the operations of those that do not into '
      'svc.inbox (environment_id, customer_id, seq).'
    ),
    (
      11, 'usage_is_what_was_stored',
      'The usage of the month is the number of events that were stored in it.',
      'Quotas are compared with it. Set svc.key_usage.month_events of one of the environment''s keys so that the sum is right.'
    ),
    (
      12, 'keys_have_a_usage',
      'Every API key has a row of svc.key_usage.',
      'Requests with such a key are refused. Rotate or revoke it: svc keys rotate.'
    ),
    (
      13, 'customers_are_set_aside_for_a_reason',
      'A customer that is set aside has the error that caused it, and no other customer has one.',
      'Release the customer: svc customers release. If it fails again, it is set aside with the reason.'
    ),
    (
      14, 'states_are_what_was_entered_last',
      'The lifecycle state of a customer is the one that its last transition leads to.',
      'Recompute the customer, which rewrites state and log: svc recompute --customer ID.'
    ),
    (
      15, 'transitions_follow_each_other',
      'Each transition leaves the state that the one before it led to.',
      'Recompute the customer, which rewrites state and log: svc recompute --customer ID.'
    ),
    (
      16, 'health_is_what_was_scored_last',
      'The health of a customer is its last score.',
      'Recompute the customer, which rewrites state and log: svc recompute --customer ID.'
    ),
    (
      17, 'tables_show_what_the_state_says',
      'The segments, raised signals, journeys and next timer in the tables are those of the customer''s state.',
      'Recompute the customer, which rewrites state and tables: svc recompute --customer ID.'
    ),
    (
      18, 'journeys_have_one_run_at_a_time',
      'A customer has no more than one active run of a journey.',
      'Recompute the customer, which rewrites its runs: svc recompute --customer ID.'
    ),
    (
      19, 'events_trigger_a_rule_once',
      'No event makes a rule run twice.',
      'The event was evaluated twice. Report it with the versions that were running; recomputing the customer repairs its log, '
      'but not what receivers got twice.'
    ),
    (
      20, 'logs_are_of_known_generations',
      'No log is ahead of its customer''s generation.',
      'Restore the row of svc.customers from a backup, or recompute the customer once its generation is raised to that of the '
      'log.'
    ),
    (
      21, 'superseded_logs_are_queued_for_removal',
      'Logs that a recompute superseded are queued for removal.',
      'These rows are never read and stay forever. Insert (environment_id, customer_id, generation) of the customer into '
      'svc.superseded_logs; they are removed after the days that the plan keeps them.'
    ),
    (
      22, 'runs_lead_to_what_they_emitted',
      'What a rule execution emitted is stored, with its customer, instant and cause; only executions that passed emit.',
      'Rows were changed by SQL. Set emission_seq of the execution to null if its emission cannot be restored.'
    ),
    (
      23, 'rows_belong_to_a_customer',
      'Everything derived belongs to a customer that exists.',
      'They may remain of a customer who was erased: erase the customer again, svc customers erase; if it is not found, '
      'delete the rows.'
    ),
    (
      24, 'rows_belong_to_an_environment',
      'Everything stored belongs to an environment that exists.',
      'These rows are invisible. An environment was deleted by SQL: restore its row from a backup, or delete what it left.'
    ),
    (
      25, 'versions_in_use_are_stored',
      'Every version that was used for evaluation is stored.',
      'Versions are never deleted by the service. Restore the row of svc.config_versions from a backup.'
    ),
    (
      26, 'active_versions_are_those_activated_last',
      'The active version of an environment is the one that was activated last.',
      'svc.environments was changed by SQL. Activate the version that should be active: svc config promote or rollback.'
    ),
    (
      27, 'emissions_are_stored',
      'Every emission that was written is stored, unless its customer was erased.',
      'Find out who deleted rows by SQL, or which restore was incomplete. What is missing cannot be delivered.'
    ),
    (
      28, 'emissions_are_told',
      'Every emission was fanned out to the webhooks that want it, or a recompute in progress will do it.',
      'Resend the period: svc webhooks resend WEBHOOK --since TIME --status missing. Emissions without a row of '
      'svc.emission_batches are resent one by one, by their ids.'
    ),
    (
      29, 'webhooks_are_told_what_they_want',
      'A webhook has a delivery of every emission that it wants since it was last changed.',
      'Send what is missing: svc webhooks resend WEBHOOK --since TIME --status missing. If svc.webhooks was changed by SQL '
      'and the webhook wanted other types then, nothing is missing.'
    ),
    (
      30, 'deliveries_have_their_emission',
      'Every delivery has its emission.',
      'It can never be sent, and may remain of an erased customer. Delete these rows of svc.deliveries and '
      'svc.delivery_attempts.'
    ),
    (
      31, 'bodies_have_their_delivery',
      'Every body that is kept belongs to a delivery.',
      'It may remain of an erased customer. Delete these rows of svc.delivery_bodies.'
    ),
    (
      32, 'deliveries_are_those_of_their_attempts',
      'Attempts belong to a delivery that counts them, no delivery ended without one, and the last attempt of a delivered one '
      'was accepted.',
      'Find out who changed rows by SQL. svc webhooks resend starts a delivery again.'
    ),
    (
      33, 'recomputes_are_consistent',
      'A recompute has as many results as it counts, and when it is completed all customers are done and all emissions fanned out.',
      'Look at it with svc recompute status; queue another one if its figures matter. Emissions that it kept are resent one '
      'by one, by their ids: svc webhooks resend WEBHOOK ID.'
    ),
    (
      34, 'recomputes_run_one_at_a_time',
      'An environment runs at most one recompute or dry run, one preview and one backtest at a time.',
      'Stop the workers and start them again: the oldest resumes, and what the other one still writes is refused. Report it.'
    ),
    (
      35, 'organizations_have_an_owner',
      'Every organization has an owner.',
      'Make one: svc-server bootstrap --organization SLUG --email ADDRESS.'
    ),
    (
      36, 'numbers_are_ahead_of_what_is_stored',
      'Sequences are ahead of what is stored.',
      'The next calls fail, or ids are used twice. Stop the service. After logical replication copy the sequences '
      '(docs/operations/upgrade.md), after a restore skip numbers (docs/operations/backup.md). Else set each: select '
      'setval(''SEQUENCE'', NUMBER IN USE). If both of an environment are missing, first select svc.start_numbers(ENVIRONMENT), '
      'with the number in their names.'
    ),
    (
      37, 'trends_are_what_was_logged',
      'Trends are the sums of transitions, scores and the emissions of segments and signals.',
      'Rows were changed by SQL. Have them counted again: update svc.trend_progress set outdated_since = ''0'' for this '
      'environment_id.'
    ),
    (
      38, 'quarantine_is_counted',
      'The quarantine holds as many operations as it counts.',
      'Rows were changed by SQL. Set operations and bytes of the row of svc.quarantines to what svc.quarantined_operations '
      'holds: the limit is compared with them.'
    ),
    (
      39, 'operations_are_in_one_place',
      'No operation in quarantine is also stored as an event or a trait update.',
      'It would be stored twice if it were released. Discard it: svc events quarantine discard ID.'
    )
$$;

comment on function svc.known_invariants() is 'What must hold at every instant, and what to do if it does not.';
