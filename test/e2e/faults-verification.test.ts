import type { TransactionSql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { Ledger } from "../../faults/ledger.js";
import { generatedHistory, type Operation } from "../../faults/operations.js";
import { survey } from "../../faults/survey.js";
import { differences, verify, type Sent } from "../../faults/verification.js";
import { rolledBack, useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { TestEnvironment } from "../tasks/support/environment.js";

const BATCH = 500;

const db = await useDatabase();
let environmentId: number;
let sent: Sent;

/** A history that was sent, acknowledged and evaluated without faults. */
beforeAll(async () => {
  const history = generatedHistory(1_500, 7);
  const surveyed = await survey(history);
  const environment = await TestEnvironment.create(db.sql, surveyed.model.snapshot);
  const ledger = new Ledger();
  const operations: Operation[] = [];
  for await (const operation of history.read()) operations.push(operation);
  for (let begin = 0; begin < operations.length; begin += BATCH) {
    const batch = operations.slice(begin, begin + BATCH);
    const now = new Date().toISOString();
    const seqs = await environment.ingestText(
      batch.map(({ json }) => json),
      batch.map(() => ({ at: now })),
    );
    batch.forEach((operation, index) =>
      ledger.acknowledge(operation, `evt_${seqs[index]!.toString(16).padStart(16, "0")}`),
    );
    ledger.accepted(batch, 0);
  }
  await environment.evaluate();
  environmentId = environment.environmentId;
  sent = { history, survey: surveyed, ledger };
});

/** The findings of the verification after a change, which is rolled back. */
function findingsAfter(change: (tx: TransactionSql) => Promise<unknown>): Promise<string> {
  return rolledBack(db.sql, async (tx) => {
    await change(tx);
    return differences(await verify(tx, environmentId, sent)).join("\n");
  });
}

test("finds nothing in correct data", async () => {
  expect(await findingsAfter(() => Promise.resolve())).toBe("");
});

/** Citus does not allow such changes on all nodes in a transaction that then creates tables. */
const testOnOne = test.skipIf(isCluster);

testOnOne.each<[what: string, damage: string, found: (string | RegExp)[]]>([
  [
    "an event that is lost",
    "delete from svc.events where event_seq = (select max(event_seq) from svc.events)",
    [
      /^events: (\d+) sent, (?!\1)\d+ stored$/m,
      "not so: every event was acknowledged with the id under which it is stored",
      "not so: no two keys made one event, and no key none",
    ],
  ],
  [
    "an event that is stored twice",
    `insert into svc.events
     select environment_id, event_seq + 1000000, customer_id, event, properties, occurred_at, accepted_at
     from svc.events order by event_seq limit 1`,
    [
      /^events: \d+ sent, \d+ stored$/m,
      /^sum of "quantity", in decimals: /m,
      "not so: nothing is stored that was not sent, and nothing twice",
    ],
  ],
  [
    "one lost and one duplicated event although the count is right",
    `update svc.events as e
     set customer_id = o.customer_id, event = o.event, properties = o.properties, occurred_at = o.occurred_at
     from (select * from svc.events order by event_seq limit 1) as o
     where e.event_seq = (select max(event_seq) from svc.events)`,
    [/^(?!([^]*\n)?events: )/, "not so: every event is stored as it was sent"],
  ],
  [
    "a number that changed in its last digit",
    `update svc.events
     set properties = jsonb_set(properties, '{unitPrice}', to_jsonb((properties ->> 'unitPrice')::numeric + 0.0000000001))
     where event_seq = (select max(event_seq) from svc.events)`,
    [
      /^sum of "unitPrice", in decimals: [\d.]+ sent, [\d.]+0001 stored$/m,
      "not so: every event is stored as it was sent",
    ],
  ],
  [
    "a trait update that is lost",
    "delete from svc.trait_updates",
    ["not so: every trait update is stored at least once"],
  ],
  [
    "traits that are not those of the last update",
    "update svc.customers set traits = traits || '{\"lines\": -1}'",
    ["not so: the customers' traits are those of their updates in order"],
  ],
  [
    "a customer who is set aside",
    "update svc.customers set set_aside_at = now()",
    ["not so: there are the customers of whom something was sent, and none is set aside"],
  ],
  [
    "customers who are active too early",
    "update svc.customers set lifecycle = 'active'",
    ['not so: a customer is active from 25 events "line_sold" on'],
  ],
  [
    "an event that was evaluated twice",
    `insert into svc.emissions
     select environment_id, emission_seq + 65536, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id
     from svc.emissions where source = 'rule' order by emission_seq desc limit 1`,
    ['not so: each event "line_cancelled" was evaluated once, and emitted once'],
  ],
  [
    "an event that was not evaluated",
    "delete from svc.rule_executions",
    ['not so: each event "line_cancelled" was evaluated once, and emitted once'],
  ],
  [
    "usage that was counted twice",
    "update svc.key_usage set month_events = month_events + 1",
    ["not so: the month's usage is the number of events stored"],
  ],
  [
    "an operation that waits for evaluation",
    "insert into svc.inbox select environment_id, customer_id, event_seq from svc.events limit 1",
    ["not so: nothing waits for evaluation"],
  ],
])("finds %s", async (_, damage, found) => {
  const findings = await findingsAfter((tx) => tx.unsafe(damage));
  for (const finding of found) expect(findings).toMatch(finding);
});
