import { expect, it } from "vitest";
import { casesOf } from "../../support/cases.js";
import { useDatabase, rolledBack } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { numberFromOne } from "../../support/service.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { liveThrough } from "../../tasks/support/lived.js";
import { MODEL } from "../../tasks/support/population.js";
import { createWebhook } from "../../webhooks/support/fixtures.js";

// Each kind of damage is found, and nothing else is reported. Each change is rolled back.

const ahead = new Date(Date.now() + 86_400_000).toISOString();
const db = await useDatabase();
const { sql } = db;
await fill();

/** Customers of every kind: recomputed, waiting, with a future event, set aside; `c020` has rows in all tables. */
async function fill(): Promise<void> {
  const environment = await TestEnvironment.create(sql, MODEL);
  const { environmentId } = environment;
  await numberFromOne(sql, environmentId);
  await createWebhook(sql, environmentId, "https://hooks.example.com/", ["*"], { ageDays: 1 });
  await liveThrough(db, environment, 40);
  const sent = (customer: string, key: string) => ({ customer, at: "2026-03-01T00:00:00Z", event: "paid", key });
  await environment.send([sent("c020", "k1"), { ...sent("c021", "k2"), at: ahead }, sent("c022", "k3")]);
  await environment.evaluate({ settleSeconds: 0 });
  await sql`select svc_api.set_aside_customer(${environmentId}, 'c022', 'RangeError: beyond')`;
  const identify = { customer: "c024", at: "", traits: { plan: "pro" } };
  await environment.send([sent("c023", "k4"), sent("c022", "k5"), identify]);
}

/** The violations after a change, without what differs between runs. */
function after(damage: string): Promise<string[]> {
  return rolledBack(sql, async (tx) => {
    // Without foreign keys and triggers.
    await tx`set local session_replication_role = replica`;
    // With unusual user settings for instants.
    await tx.unsafe("set local datestyle = 'SQL, DMY'; set local timezone = 'Asia/Kolkata'");
    await tx.unsafe(damage);
    const lines = await violations(tx);
    return lines.map((line) =>
      line
        .replaceAll(/\b(evt|emi|rec|key|whk)_[0-9a-z]+/g, "$1")
        .replaceAll(/\bo[0-9a-f]{12}\b/g, "acme")
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "T")
        .replaceAll(/\d{4}-\d\d\b/g, "month")
        // The numbers depend on the speed of the machine: slow evaluations take fewer customers at once.
        .replaceAll(/\b(\d{3,}|\d+(?= is in use))\b/g, "#"),
    );
  });
}

it("nothing is found without damage", async () => {
  expect(await after("select")).toEqual([]);
});

it("the check keeps no environment's sequences locked, of which there may be more than the server has locks for", async () => {
  const locked = await rolledBack(sql, async (tx) => {
    await violations(tx);
    return tx`
      select c.relname from pg_locks as l
      join pg_class as c on c.oid = l.relation
      where l.pid = pg_backend_pid() and c.relname like any ('{batch%seq%,evaluation%seq%}') and c.relkind = 'S'`;
  });
  expect([...locked]).toEqual([]);
});

it("numbers of an environment that was created without triggers are missing, and the advice makes them", async () => {
  const found = await rolledBack(sql, async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`insert into svc.environments (environment_id, project_id, name) overriding system value values (7777, 7777, 'live')`;
    const numbers = async () => (await violations(tx)).filter((line) => line.includes("_seq_7777"));
    const before = await numbers();
    await tx`select svc.start_numbers(7777)`;
    return [before, await numbers()];
  });
  expect(found).toEqual([
    [
      expect.stringMatching(
        /svc\.batch_seq_7777 is missing, and 0 is in use; svc\.evaluation_seq_7777 is missing, and 0 is in use/,
      ),
    ],
    [],
  ]);
});

/** A timer in the state, in the year 2100. */
const TIMER = `update svc.customers set state = jsonb_set(state::jsonb, '{times,3}', '4102444800000')::json`;

const CASES = casesOf(`
an event is lost
  delete from svc.events where idempotency_key = 'k1'
  - acknowledged_events_are_stored (1): # events were acknowledged and neither erased nor removed because of their age; there are #
  - keys_have_their_event (1): the key "k1" belongs to the event evt, which does not exist
an event is stored twice
  insert into svc.events select environment_id, event_seq + 500, customer_id, event, properties, occurred_at, accepted_at, null
  from svc.events where idempotency_key = 'k1'
  - acknowledged_events_are_stored (1): # events were acknowledged and neither erased nor removed because of their age; there are #
  - calls_hold_what_they_stored (1): the call 3 stored 3 events and 0 trait updates; there are 4 and 0
a call is lost
  delete from svc.ingest_batches where batch_seq = (select max(batch_seq) from svc.ingest_batches)
  - acknowledged_events_are_stored (1): # events were acknowledged and neither erased nor removed because of their age; there are #
  - operations_belong_to_a_call (1): 2 events and 1 trait updates of the call 4, which does not exist
  - usage_is_what_was_stored (1): in month the keys count # events; # were stored
an operation is released and stays in quarantine
  insert into svc.quarantined_operations
  select environment_id, event_seq, customer_id, event, '{}', null, idempotency_key, now(), 2, 1, 'x', 'x', 'x', '[]'
  from svc.events where idempotency_key = 'k1';
  insert into svc.quarantines (environment_id, operations, bytes) select environment_id, 1, 2 from svc.webhooks
  - acknowledged_events_are_stored (1): # events were acknowledged and neither erased nor removed because of their age; there are #
  - calls_hold_what_they_stored (1): the call 3 stored 3 events and 0 trait updates; there are 4 and 0
  - operations_are_in_one_place (1): the operation # is stored, and in quarantine
the quarantine is miscounted
  insert into svc.quarantines (environment_id, operations, bytes) select environment_id, 1, 2 from svc.webhooks
  - quarantine_is_counted (1): 1 operations and 2 bytes are counted; there are 0 and 0
something old is back
  insert into svc.ingest_batches
  select environment_id, swept_through, gen_random_uuid(), now() - interval '1 year', 0, 0, false
  from svc.retention where swept_through > 0
  - removal_leaves_nothing_behind (1): the call 1 is still there, although everything up to the call 1 was removed
a call of no environment
  insert into svc.ingest_batches select 7777, batch_seq, batch_id, accepted_at, tracked, identified, late
  from svc.ingest_batches where tracked + identified = 3;
  delete from svc.ingest_batches where tracked + identified = 3 and environment_id <> 7777
  - acknowledged_events_are_stored (1): # events were acknowledged and neither erased nor removed because of their age; there are #
  - acknowledged_events_are_stored (1): 5 events were acknowledged and neither erased nor removed because of their age; there are 0
  - operations_belong_to_a_call (2): 2 events and 1 trait updates of the call 4, which does not exist; 3 events and 0 trait updates of the call 3, which does not exist
  - usage_is_what_was_stored (1): in month the keys count # events; # were stored
  - rows_belong_to_an_environment (2): the call 3; the call 4
a key is lost
  delete from svc.idempotency_keys where idempotency_key = 'k1'
  - events_have_their_key (1): the event evt has the key "k1", which is not known
a key leads elsewhere
  update svc.idempotency_keys set event_seq = event_seq + 1 where idempotency_key = 'k1'
  - events_have_their_key (1): the event evt has the key "k1", which belongs to evt
  - keys_have_their_event (1): the key "k1" belongs to the event evt, which does not exist
a retired key is not known
  delete from svc.idempotency_keys where idempotency_key = 'old'
  - retired_keys_are_known (1): the key "old" of the removed event evt is not known
a key of a removed event is not retired
  delete from svc.retired_keys
  - keys_have_their_event (1): the key "old" belongs to the event evt, which does not exist
a trait update that waits is lost
  delete from svc.trait_updates where operation_seq in (select seq from svc.inbox)
  - what_waits_is_stored (1): the operation # of the customer "c024" waits and is not stored
an operation waits for another customer
  update svc.inbox set customer_id = 'c030' where customer_id = 'c023'
  - what_waits_is_stored (1): the operation # of the customer "c030" waits and is not stored
  - operations_wait_or_are_evaluated (1): the latest event of the customer "c023" that does not wait occurred at T; the customer knows of none after T
an event ahead is put off for ever
  update svc.inbox set not_before = 'infinity' where customer_id = 'c021'
  - what_is_put_off_is_due_in_time (1): the operation # is deferred forever, although the customer "c021" is not set aside
an event ahead is not due
  update svc.customers set next_due_at = null where customer_id = 'c021'
  - what_is_put_off_is_due_in_time (1): the operation # of the customer "c021" waits until T, the customer until an operation comes
an event ahead is due late
  update svc.customers set next_due_at = now() + interval '9 days' where customer_id = 'c021'
  - what_is_put_off_is_due_in_time (1): the operation # of the customer "c021" waits until T, the customer until T
an event ahead has no customer
  update svc.inbox set customer_id = 'nobody', not_before = now() where customer_id = 'c024'
  - what_waits_is_stored (1): the operation # of the customer "nobody" waits and is not stored
  - what_is_put_off_is_due_in_time (1): the operation # is deferred for the customer "nobody", who does not exist
a new event waits no more
  delete from svc.inbox where customer_id = 'c023'
  - operations_wait_or_are_evaluated (1): the latest event of the customer "c023" that does not wait occurred at T; the customer knows of none after T
a new customer's event waits no more
  update svc.events set customer_id = 'unknown' where customer_id = 'c023' and idempotency_key = 'k4';
  delete from svc.inbox where customer_id = 'c023'
  - operations_wait_or_are_evaluated (1): 1 operations of "unknown" do not wait, and there is no such customer
usage is counted twice
  update svc.key_usage set month_events = month_events + 9999 where month_events > 0
  - usage_is_what_was_stored (1): in month the keys count # events; # were stored
usage is not counted
  update svc.key_usage set month_events = 0
  - usage_is_what_was_stored (1): in month the keys count 0 events; # were stored
a key has no usage
  delete from svc.key_usage where month_events = 0
  - keys_have_a_usage (1): the API key key
a customer is set aside without an error
  update svc.customers set set_aside_error = null where customer_id = 'c022'
  - customers_are_set_aside_for_a_reason (1): the customer "c022" is set aside without an error
a customer has an error
  update svc.customers set set_aside_error = 'x' where customer_id = 'c000'
  - customers_are_set_aside_for_a_reason (1): the customer "c000" has an error and is not set aside
a state was not entered
  update svc.customers set lifecycle = 'new' where customer_id = 'c005'
  - states_are_what_was_entered_last (1): the customer "c005" is in "new" since T; the last transition leads to "quiet" at T
a state was entered at another time
  update svc.customers set lifecycle_entered_at = '2026-01-01T12:00:00Z' where customer_id = 'c005'
  - states_are_what_was_entered_last (1): the customer "c005" is in "quiet" since T; the last transition leads to "quiet" at T
all transitions of a customer are lost
  delete from svc.lifecycle_transitions where customer_id = 'c005'
  - states_are_what_was_entered_last (1): the customer "c005" is in "quiet" since T; the last transition leads to no state at never
a transition was written twice
  insert into svc.lifecycle_transitions (environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, generation)
  select environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, generation
  from svc.lifecycle_transitions where customer_id = 'c005' and generation = 1 order by transition_seq desc limit 1
  - transitions_follow_each_other (1): the transition # of the customer "c005" leaves "active" after "quiet" was entered
health is not what was scored
  update svc.customers set health = '{"overall": 1, "band": "poor"}' where customer_id = 'c005'
  - health_is_what_was_scored_last (1): the customer "c005" has the health 1.00 (poor); the last score is 0.00 (poor)
scores are lost
  delete from svc.health_scores where customer_id = 'c005' and generation = 1
  - health_is_what_was_scored_last (1): the customer "c005" has the health 0.00 (poor); the last score is none (-)
an event ran a rule twice
  insert into svc.rule_executions
  (environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type, cause_id, generation)
  select environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type, cause_id, generation
  from svc.rule_executions where customer_id = 'c020' and cause_type = 'event' order by execution_seq desc limit 1
  - events_trigger_a_rule_once (1): the rule "pick" ran 2 times for the event evt of the customer "c020"
a log is ahead
  update svc.rule_executions set generation = 5 where customer_id = 'c020' and generation = 1
  - logs_are_of_known_generations (1): svc.rule_executions has the generation 5 of the customer "c020", who is at generation 1
a superseded log is not queued
  delete from svc.superseded_logs where customer_id = 'c005'
  - superseded_logs_are_queued_for_removal (3): svc.health_scores has the generation 0 of the customer "c005", who is at generation 1; svc.lifecycle_transitions has the generation 0 of the customer "c005", who is at generation 1; svc.rule_executions has the generation 0 of the customer "c005", who is at generation 1
a run emitted what is not there
  update svc.rule_executions set emission_seq = 1 where (execution_seq, result) = (
    select max(execution_seq), 'pass' from svc.rule_executions where customer_id = 'c020' and result = 'pass'
  )
  - runs_lead_to_what_they_emitted (1): the run # of the rule "pick" for the customer "c020" emitted 1
a queued generation is ahead
  update svc.superseded_logs set generation = 3 where customer_id = 'c005'
  - logs_are_of_known_generations (1): svc.superseded_logs has the generation 3 of the customer "c005", who is at generation 1
a membership is lost
  delete from svc.segment_memberships where customer_id = 'c020' and segment_id = 'picked'
  - tables_show_what_the_state_says (1): the customer "c020", segment "picked": entered by the state, nothing by the table
a membership is too many
  update svc.segment_memberships set segment_id = 'x' where customer_id = 'c020' and segment_id = 'picked'
  - tables_show_what_the_state_says (2): the customer "c020", segment "picked": entered by the state, nothing by the table; the customer "c020", segment "x": nothing by the state, entered by the table
a signal is lost
  update svc.signals set cleared_at = now() where customer_id = 'c020' and cleared_at is null
  - tables_show_what_the_state_says (1): the customer "c020", signal "hot": raised by the state, nothing by the table
a journey is elsewhere
  update svc.journey_runs set run = run + 1 where customer_id = 'c020'
  - tables_show_what_the_state_says (1): the customer "c020", journey "onboarding": run 1 expired by the state, run 2 expired by the table
a customer's timers never come due
  ${TIMER}, next_due_at = null where customer_id = 'c020'
  - tables_show_what_the_state_says (1): the customer "c020", timers: due at T by the state, never by the table
a customer's timers come due too late
  ${TIMER}, next_due_at = '2100-01-01T00:00:01Z' where customer_id = 'c020'
  - tables_show_what_the_state_says (1): the customer "c020", timers: due at T by the state, at T by the table
a customer has lost its state
  update svc.customers set state = null where customer_id = 'c019'
  - tables_show_what_the_state_says (4): the customer "c019", evaluated: nothing by the state, up to T by the table; the customer "c019", journey "onboarding": nothing by the state, run 1 complete by the table; the customer "c019", segment "picked": nothing by the state, entered by the table; the customer "c019", signal "hot": nothing by the state, raised by the table
a state is a list
  update svc.customers set state = '[1]' where customer_id = 'c000'
  - tables_show_what_the_state_says (2): the customer "c000", segment "pro": nothing by the state, entered by the table; the customer "c000", state: a JSON array, which cannot be read
a state is a text
  update svc.customers set state = '"abc"' where customer_id = 'c000'
  - tables_show_what_the_state_says (2): the customer "c000", segment "pro": nothing by the state, entered by the table; the customer "c000", state: a JSON string, which cannot be read
the parts of a state have other forms
  update svc.customers set state = '{"journeys":[1],"segments":3,"signals":"x","times":{"3":1},"timerDueAt":"soon"}'
  where customer_id = 'c000'
  - tables_show_what_the_state_says (6): the customer "c000", journeys in the state: a JSON array, which cannot be read; the customer "c000", segment "pro": nothing by the state, entered by the table; the customer "c000", segments in the state: a JSON number, which cannot be read; the customer "c000", signals in the state: a JSON string, which cannot be read; the customer "c000", timerDueAt in the state: a JSON string, which cannot be read
a state has an impossible timer
  update svc.customers set state = jsonb_set(state::jsonb, '{times,3}', '1e30')::json where customer_id = 'c000'
  - tables_show_what_the_state_says (1): the customer "c000", timerDueAt in the state: a JSON number, which cannot be read
two runs of a journey are active
  insert into svc.journey_runs
  select environment_id, customer_id, journey_id, n, 'active', current_step, steps, started_at
  from svc.journey_runs, unnest(array[-2, -1]) as n where customer_id = 'c020'
  - journeys_have_one_run_at_a_time (1): the journey "onboarding" of the customer "c020" has 2 active runs
a customer is lost
  delete from svc.customers where customer_id = 'c007'
  - operations_wait_or_are_evaluated (1): 6 operations of "c007" do not wait, and there is no such customer
  - rows_belong_to_a_customer (9): svc.emissions has rows of "c007", who does not exist; svc.health_scores has rows of "c007", who does not exist; svc.journey_runs has rows of "c007", who does not exist; svc.lifecycle_transitions has rows of "c007", who does not exist; svc.recompute_customers has rows of "c007", who does not exist
something is left of a stranger
  insert into svc.blocked_transitions select environment_id, 'gone', 'a', 'b', now() from svc.webhooks
  - rows_belong_to_a_customer (1): svc.blocked_transitions has rows of "gone", who does not exist
a result of a stranger
  update svc.recompute_customers set customer_id = 'gone' where customer_id = 'c020'
  - rows_belong_to_a_customer (1): svc.recompute_customers has rows of "gone", who does not exist
a customer of no environment
  insert into svc.customers (environment_id, customer_id, created_at) values (7777, 'c', now())
  - rows_belong_to_an_environment (1): the customer "c"
a customer's version is gone
  update svc.customers set config_version = 9 where customer_id = 'c005'
  - versions_in_use_are_stored (1): v9, which the customer "c005" was evaluated under
a recompute's version is gone
  update svc.recomputes set version = 9
  - versions_in_use_are_stored (1): v9, which rec is pinned to
another version is active
  update svc.environments set active_version = 1 where active_version = 2
  - active_versions_are_those_activated_last (1): v1 is active; v2 was activated last
an emission is lost
  delete from svc.emissions where emission_seq = (select max(emission_seq) from svc.emissions)
  - emissions_are_stored (1): # emissions were written and not erased; there are #
  - deliveries_have_their_emission (1): the webhook whk has a delivery of emi, which does not exist
an emission is not in the outbox
  delete from svc.emission_batches where evaluation_seq = (select max(evaluation_seq) from svc.emission_batches)
  - emissions_are_stored (1): # emissions were written and not erased; there are #
  - emissions_are_told (1): 2 emissions from emi on
an emission is too many
  insert into svc.emissions select environment_id, emission_seq + 60000, customer_id, event_type, source, metadata, emitted_at, cause_type
  from svc.emissions order by emission_seq desc limit 1
  - emissions_are_stored (1): # emissions were written and not erased; there are #
  - emissions_are_told (1): of the emissions from emi on, 2 are in the outbox; there are 3, up to the position #
  - webhooks_are_told_what_they_want (1): the webhook whk has no delivery of emi (signal.raised)
emissions of no environment
  insert into svc.emission_batches values (7777, 1, 1)
  - rows_belong_to_an_environment (1): the emissions from emi on
  - emissions_are_stored (1): 1 emissions were written and not erased; there are 0
a delivery is lost
  delete from svc.deliveries where status = 'pending' and emission_seq = (select max(emission_seq) from svc.deliveries)
  - webhooks_are_told_what_they_want (1): the webhook whk has no delivery of emi (signal.raised)
a delivery of nothing
  insert into svc.deliveries (environment_id, webhook_id, emission_seq) select environment_id, webhook_id, 5 from svc.webhooks
  - deliveries_have_their_emission (1): the webhook whk has a delivery of emi, which does not exist
a body of no delivery
  insert into svc.delivery_bodies select environment_id, webhook_id, 5, '{}' from svc.webhooks
  - bodies_have_their_delivery (1): a body is kept of emi for the webhook whk, which has no such delivery
a delivery without an attempt
  update svc.deliveries set attempts = 0 where emission_seq = (select min(emission_seq) from svc.deliveries)
  - deliveries_are_those_of_their_attempts (2): the attempt 1 to deliver emi to whk has a delivery of 0 attempts; the delivery of emi to whk is delivered after 0 attempts
a delivery that no attempt has made
  update svc.delivery_attempts set status_code = 500 where emission_seq = (select min(emission_seq) from svc.deliveries)
  - deliveries_are_those_of_their_attempts (1): the delivery of emi to whk is delivered; its last attempt was answered #
an attempt without a delivery
  update svc.delivery_attempts set emission_seq = 5 where emission_seq = (select min(emission_seq) from svc.delivery_attempts)
  - deliveries_are_those_of_their_attempts (1): the attempt 1 to deliver emi to whk has no delivery
a completed recompute with something to tell
  update svc.recomputes set outbox_seq = 1000000, outbox_emissions = 2
  - emissions_are_stored (1): # emissions were written and not erased; there are #
  - recomputes_are_consistent (1): rec is completed and keeps 2 emissions that were not delivered
a recompute with an empty outbox
  update svc.recomputes set outbox_emissions = 2
  - recomputes_are_consistent (1): rec is completed and keeps 2 emissions that were not delivered
a completed recompute that did not do all
  update svc.recomputes set customers_done = customers_done - 1
  - recomputes_are_consistent (1): rec is completed, with 39 of 40 customers
a recompute with too many results
  update svc.recomputes set customers_changed = 1
  - recomputes_are_consistent (1): rec has 40 results and says that 1 customers change
results of no recompute
  delete from svc.recomputes
  - recomputes_are_consistent (1): rec has 40 results and says that no customers change
two recomputes at once
  insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by)
  select environment_id, 'rec_' || n, case n when 1 then 'dry_run' when 2 then 'recompute' else 'preview' end, now(), 'running', 'x'
  from svc.webhooks, generate_series(1, 2) as n
  - recomputes_run_one_at_a_time (1): these run at the same time: rec, rec
a recompute of no environment
  insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, requested_by) values (7777, 'rec_1', 'dry_run', now(), 'x')
  - rows_belong_to_an_environment (1): the recompute rec
an organization without an owner
  update iam.memberships set role = 'administrator'
  - organizations_have_an_owner (1): the organization acme
numbers that come again
  alter sequence svc.batch_seq_1 restart with 3; select nextval('svc.batch_seq_1'); drop sequence svc.evaluation_seq_1
  - numbers_are_ahead_of_what_is_stored (2): svc.batch_seq_1 is at 3, and # is in use; svc.evaluation_seq_1 is missing, and # is in use
numbers of rows that come again
  alter sequence iam.audit_log_audit_seq_seq restart; alter sequence svc.projects_project_id_seq restart;
  alter sequence svc.environments_environment_id_seq restart; alter sequence svc.config_activations_activation_seq_seq restart
  - numbers_are_ahead_of_what_is_stored (4): iam.audit_log_audit_seq_seq is at 0, and # is in use; svc.config_activations_activation_seq_seq is at 0, and # is in use; svc.environments_environment_id_seq is at 0, and # is in use; svc.projects_project_id_seq is at 0, and # is in use
numbers of what was logged come again
  alter sequence svc.lifecycle_transitions_transition_seq_seq restart; alter sequence svc.health_scores_score_seq_seq restart;
  alter sequence svc.rule_executions_execution_seq_seq restart; alter sequence svc.recomputes_recompute_seq_seq restart;
  alter sequence svc.trend_changes_change_seq_seq restart
  - numbers_are_ahead_of_what_is_stored (5): svc.health_scores_score_seq_seq is at 0, and # is in use; svc.lifecycle_transitions_transition_seq_seq is at 0, and # is in use; svc.recomputes_recompute_seq_seq is at 0, and # is in use; svc.rule_executions_execution_seq_seq is at 0, and # is in use; svc.trend_changes_change_seq_seq is at 0, and # is in use
trends that were changed
  insert into svc.trend_progress (environment_id, outdated_since) select environment_id, null from svc.webhooks;
  insert into svc.trend_changes (environment_id, measure, day, name, value, count)
  select environment_id, 'segment', '2026-01-01', 'ghosts', 'entered', 2 from svc.webhooks
  - trends_are_what_was_logged (1): segment of month-01, ghosts to entered: 2 counted, 0 logged
`);

it.each(CASES)("damage is found, and nothing else is reported: %s", async (_, statement, found) => {
  expect(await after(statement)).toEqual(found);
});

it("the numbers of every table with an identity column are compared", async () => {
  const rows = await sql<{ sequence: string }[]>`
    select pg_get_serial_sequence(a.attrelid::regclass::text, a.attname) as sequence
    from pg_attribute as a join pg_class as c on c.oid = a.attrelid
    where c.relnamespace in ('svc'::regnamespace, 'iam'::regnamespace) and a.attidentity <> ''`;
  const [{ source }] = await sql<[{ source: string }]>`
    select prosrc as source from pg_proc where oid = 'svc.broken_installation()'::regprocedure`;
  expect(rows.map(({ sequence }) => sequence).filter((name) => !source.includes(`from ${name} as`))).toEqual([]);
});

const HARMLESS = casesOf(`
a timer that is due in time
  ${TIMER}, next_due_at = '2100-01-01T00:00:00Z' where customer_id = 'c020'
a key that was not used this month
  insert into svc.api_keys (key_hash, api_key_id, environment_id, name, hint, created_by)
  select 'x', 'key_1', environment_id, 'old', 'svc_', 'x' from svc.webhooks;
  insert into svc.key_usage (key_hash, tokens, refilled_at, month, month_events) values ('x', 0, now(), '2020-01-01', 777)
calls of this month that were removed by retention
  with gone as (delete from svc.ingest_batches where batch_seq = (select max(batch_seq) from svc.ingest_batches) returning *),
  events as (delete from svc.events as e using gone as g where e.event_seq >> 10 = g.batch_seq returning e.*),
  updates as (delete from svc.trait_updates as t using gone as g where t.operation_seq >> 10 = g.batch_seq),
  waiting as (delete from svc.inbox as i using gone as g where i.seq >> 10 = g.batch_seq),
  retired as (insert into svc.retired_keys select environment_id, now(), event_seq, customer_id, idempotency_key from events)
  update svc.retention as r
  set last_removed_at = now(), events_removed = r.events_removed + g.tracked, batch_events_removed = r.batch_events_removed + g.tracked
  from gone as g where r.environment_id = g.environment_id
a webhook that was disabled
  update svc.webhooks set disabled_at = now(), disabled_reason = 'x'; delete from svc.deliveries where attempts = 0
a webhook that was deleted
  update svc.webhooks set deleted_at = now(); delete from svc.deliveries
a webhook that was enabled since
  update svc.webhooks set active_since = now(); delete from svc.deliveries where attempts = 0
attempts that were swept
  delete from svc.delivery_attempts
a webhook that subscribed to other types until a moment ago
  delete from svc.deliveries where attempts = 0;
  insert into iam.audit_log (organization_id, actor, action, project, environment, target)
  select p.organization_id, 'x', 'webhook.updated', p.slug, e.name, w.webhook_id
  from svc.webhooks as w join svc.environments as e using (environment_id) join svc.projects as p using (project_id)
emissions that are not passed on yet
  with gone as (
  delete from svc.emission_batches where evaluation_seq = (select max(evaluation_seq) from svc.emission_batches) returning *
  )
  insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, outbox_seq, outbox_emissions)
  select environment_id, 'rec_1', 'recompute', now(), 'running', 'x', evaluation_seq, emissions from gone;
  delete from svc.deliveries where emission_seq >> 16 = (select outbox_seq from svc.recomputes where recompute_id = 'rec_1')
results that were swept
  delete from svc.recompute_customers
`);

it.each(HARMLESS)("data that the design allows is not reported: %s", async (_, statement) => {
  expect(await after(statement)).toEqual([]);
});

it("every invariant is violated here", async () => {
  const known = await sql<{ invariant: string }[]>`select invariant from svc.known_invariants() order by 1`;
  const broken = CASES.flatMap(([, , found]) => found.map((line) => line.split(" ")[0]));
  expect([...new Set(broken)].sort()).toEqual(known.map(({ invariant }) => invariant));
});
