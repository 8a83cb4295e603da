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
      'Find out who deleted rows by SQL, or which restore brought back only a part; then restore a backup beside this '
      'database, or let senders send the time in question again: their idempotency keys keep what is there from being stored '
      'twice.'
    ),
    (
      2, 'calls_hold_what_they_stored',
      'No call has more operations than it stored.',
      'Rows were added by SQL, or svc.ingest_batches was changed. Delete what no sender sent, through svc customers erase '
      'where it is a whole customer.'
    ),
    (
      3, 'operations_belong_to_a_call',
      'Every event and every trait update belongs to the call that stored it.',
      'Restore the missing rows of svc.ingest_batches from a backup: without them retention never removes these operations, '
      'and new customers among them are not evaluated.'
    ),
    (
      4, 'removal_leaves_nothing_behind',
      'Nothing is left of what was removed because of its age.',
      'It will never be removed as it is. Set svc.retention.swept_through of the environment to 0 and next_after to null; the '
      'next sweep, within minutes, goes through all again.'
    ),
    (
      5, 'events_have_their_key',
      'Every event that was sent with an idempotency key has it, alone.',
      'The event would be stored twice if it were sent again. Restore the rows of svc.idempotency_keys from a backup.'
    ),
    (
      6, 'keys_have_their_event',
      'Every idempotency key belongs to an event that is there, or was removed because of its age.',
      'The sender of such a key was told that its event is stored. Restore the event from a backup; where nothing is to be '
      'had, delete the key, and have the event sent again.'
    ),
    (
      7, 'retired_keys_are_known',
      'Keys of removed events still tell repetitions until they are removed, too.',
      'Restore the rows of svc.idempotency_keys from a backup, or delete those of svc.retired_keys: all they do is to say when '
      'a key goes.'
    ),
    (
      8, 'what_waits_is_stored',
      'Every operation that waits for evaluation is stored.',
      'Restore the operation from a backup. Otherwise delete its row of svc.inbox: it can never be evaluated.'
    ),
    (
      9, 'what_is_put_off_is_due_in_time',
      'Every event that lies ahead is evaluated when its time has come; for ever waits only what customers have sent that are '
      'set aside.',
      'Set not_before of these rows of svc.inbox to null: the next evaluation, within a second, puts off anew what lies ahead.'
    ),
    (
      10, 'operations_wait_or_are_evaluated',
      'Every operation waits for evaluation or was evaluated.',
      'Recompute the customers that are there: svc recompute --customer ID. Of those that are not, insert the operations into '
      'svc.inbox (environment_id, customer_id, seq).'
    ),
    (
      11, 'usage_is_what_was_stored',
      'The usage of the month is the number of events that were stored in it.',
      'Quotas are held against it. Set svc.key_usage.month_events of one of the environment''s keys so that the sum is right.'
    ),
    (
      12, 'keys_have_a_usage',
      'Every API key has a row of svc.key_usage.',
      'Whoever uses such a key is refused. Rotate or revoke it: svc keys rotate.'
    ),
    (
      13, 'customers_are_set_aside_for_a_reason',
      'A customer that is set aside has the error that it was set aside for, and no other has one.',
      'Release the customer: svc customers release. Where it fails again, it is set aside with the reason.'
    ),
    (
      14, 'states_are_what_was_entered_last',
      'The lifecycle state of a customer is the one that its last transition leads to.',
      'Recompute the customer, which writes state and log anew: svc recompute --customer ID.'
    ),
    (
      15, 'transitions_follow_each_other',
      'Each transition leaves the state that the one before it led to.',
      'Recompute the customer, which writes state and log anew: svc recompute --customer ID.'
    ),
    (
      16, 'health_is_what_was_scored_last',
      'The health of a customer is its last score.',
      'Recompute the customer, which writes state and log anew: svc recompute --customer ID.'
    ),
    (
      17, 'tables_show_what_the_state_says',
      'A customer is in the segments, has the signals raised, is as far in its journeys and has its timers due as its state '
      'says.',
      'Recompute the customer, which writes state and tables anew: svc recompute --customer ID.'
    ),
    (
      18, 'journeys_have_one_run_at_a_time',
      'A customer has no more than one active run of a journey.',
      'Recompute the customer, which writes its runs anew: svc recompute --customer ID.'
    ),
    (
      19, 'events_trigger_a_rule_once',
      'No event makes a rule run twice.',
      'The event was evaluated twice. Report it with the versions that were at work; recomputing the customer mends its log, '
      'but not what receivers were told twice.'
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
      'Nobody reads these rows, and they stay for ever. Insert (environment_id, customer_id, generation) of the customer into '
      'svc.superseded_logs; they go when the plan''s days are over.'
    ),
    (
      22, 'runs_lead_to_what_they_emitted',
      'What a run of a rule emitted is there, of its customer, instant and cause; only a run that acted emitted something.',
      'Somebody changed rows by SQL. Set emission_seq of the run to null where what it emitted cannot be brought back.'
    ),
    (
      23, 'rows_belong_to_a_customer',
      'Whatever is derived belongs to a customer who is there.',
      'They may be what is left of somebody who was erased: erase the customer again, svc customers erase; where there is '
      'nothing to be found by that name, delete the rows.'
    ),
    (
      24, 'rows_belong_to_an_environment',
      'Whatever is stored belongs to an environment that is there.',
      'Nobody can see these rows. An environment was deleted by SQL: restore its row from a backup, or delete what it left.'
    ),
    (
      25, 'versions_in_use_are_stored',
      'Every version that was evaluated under is stored.',
      'Versions are never deleted by the service. Restore the row of svc.config_versions from a backup.'
    ),
    (
      26, 'active_versions_are_those_activated_last',
      'The active version of an environment is the one that was activated last.',
      'Somebody changed svc.environments by SQL. Activate what is to be active: svc config promote or rollback.'
    ),
    (
      27, 'emissions_are_stored',
      'Every emission that was written is stored, unless its customer was erased.',
      'Find out who deleted rows by SQL, or which restore brought back only a part. Deliveries of what is missing cannot be '
      'made.'
    ),
    (
      28, 'emissions_are_told',
      'Every emission was told to the webhooks that want it, or a recompute under way will do it.',
      'Send the time in question again: svc webhooks resend WEBHOOK --since TIME --status missing. Emissions without a row of '
      'svc.emission_batches are sent one by one, by their ids.'
    ),
    (
      29, 'webhooks_are_told_what_they_want',
      'A webhook has a delivery of every emission that it wants since it was last changed.',
      'Send what is missing: svc webhooks resend WEBHOOK --since TIME --status missing. Where somebody changed svc.webhooks by '
      'SQL, and the webhook wanted others then, nothing is missing.'
    ),
    (
      30, 'deliveries_have_their_emission',
      'Every delivery has its emission.',
      'It can never be made, and may be what is left of an erased customer. Delete these rows of svc.deliveries and '
      'svc.delivery_attempts.'
    ),
    (
      31, 'bodies_have_their_delivery',
      'Every body that is kept belongs to a delivery.',
      'It may be what is left of an erased customer. Delete these rows of svc.delivery_bodies.'
    ),
    (
      32, 'deliveries_are_those_of_their_attempts',
      'Attempts belong to a delivery that counts them, no delivery ended without one, and what was delivered was accepted by '
      'the last.',
      'Find out who changed rows by SQL. svc webhooks resend brings a delivery to an end of its own.'
    ),
    (
      33, 'recomputes_are_consistent',
      'A recompute has as many results as it says, has done all when it is completed, and then has nothing left to tell.',
      'Look at it with svc recompute status; queue another one where its figures matter. Emissions that it kept are sent one '
      'by one, by their ids: svc webhooks resend WEBHOOK ID.'
    ),
    (
      34, 'recomputes_run_one_at_a_time',
      'Of an environment one recompute or dry run is at work, one preview, and one backtest.',
      'Stop the workers and start them again: the oldest goes on, and what the other one still writes is refused. Report it.'
    ),
    (
      35, 'organizations_have_an_owner',
      'Every organization has an owner.',
      'Make one: svc-server bootstrap --organization SLUG --email ADDRESS.'
    ),
    (
      36, 'numbers_are_ahead_of_what_is_stored',
      'Sequences are ahead of what is stored.',
      'The next calls fail, or ids come twice: docs/operations/backup.md says how to set the sequences after a restore. Do it '
      'before anything is accepted.'
    ),
    (
      37, 'trends_are_what_was_logged',
      'Trends are what transitions, scores and what was told of segments and signals add up to.',
      'Somebody changed rows by SQL. Have them counted anew: update svc.trend_progress set outdated_since = ''0'' where '
      'environment_id is that in question.'
    ),
    (
      38, 'quarantine_is_counted',
      'The quarantine holds as many operations as it says.',
      'Somebody changed rows by SQL. Set operations and bytes of the row of svc.quarantines to what svc.quarantined_operations '
      'holds: the limit is held against it.'
    ),
    (
      39, 'operations_are_in_one_place',
      'What is in quarantine is not stored as an event or a trait update, too.',
      'It would be stored twice if it were released. Discard it: svc events quarantine discard ID.'
    )
$$;

comment on function svc.known_invariants() is 'What must hold at every instant, and what to do if it does not.';
