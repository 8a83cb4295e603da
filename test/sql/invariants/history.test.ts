import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { sweepRetention } from "../../../src/tasks/periodic-jobs.js";
import { useDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { isCluster } from "../../support/is-cluster.js";
import { TestEnvironment, type EvaluateOptions, type TestOperation } from "../../tasks/support/environment.js";
import { CHANGED, customersOf, historiesOf, MODEL } from "../../tasks/support/population.js";
import { isOver, JobRunner, queue, recomputer, untilJob } from "../../tasks/support/recompute.js";
import { claim, createWebhook } from "../../webhooks/support/fixtures.js";

// No action of the service violates an invariant, neither after it nor while it runs.

const db = await useDatabase();
const worker = new JobRunner(db);
let environment: TestEnvironment;
beforeAll(async () => void (environment = await TestEnvironment.create(db.sql, MODEL)));
afterAll(() => worker.end());

const DAY = 86_400_000;
const CUSTOMERS = customersOf(40);
const FEW = { customers: 20, operations: 100 };
const BACKTEST = {
  ...{ outcome: "state:quiet", within: "14d", every: "7d" },
  ...{ from: "2026-01-03T00:00:00.000Z", to: "2026-01-31T00:00:00.000Z" },
  ...{ end: "2026-02-28T00:00:00.000Z", traits: "then" as const, against: null },
};
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();
const sweep = () => sweepRetention(db.sql, new AbortController().signal, { rows: 50 });

const webhook = (types: string[], settings = {}) =>
  createWebhook(db.sql, environment.environmentId, "https://hooks.example.com/", types, { ageDays: 1, ...settings });

/** Attempts every due delivery, answered with this status code. */
async function deliver(statusCode: number): Promise<void> {
  for (;;) {
    const due = await claim(db.sql, "worker", 100);
    if (due.length === 0) return;
    const attemptedAt = new Date().toISOString();
    const result = { attemptedAt, latencyMs: 3, statusCode, error: null, response: null, retryAfterSeconds: null };
    await call(
      db.sql,
      "record_attempts",
      due.map((delivery) => ({ ...delivery, ...result })),
    );
  }
}

const STEPS: [step: string, act: () => Promise<unknown>][] = [
  ["before anything", async () => {}],
  ["webhooks were created", () => Promise.all([webhook(["*"]), webhook(["segment.*"], { maxEventAge: "7d" })])],
  ["histories wait", () => ingest(historiesOf(CUSTOMERS))],
  ["histories were evaluated in part", () => evaluate({ shouldContinue: once(), limits: FEW })],
  ["histories were evaluated", () => evaluate()],
  ["some were delivered", () => deliver(204)],
  ["keys were sent", () => environment.send([keyed("k1", "c000"), keyed("k2", "c001"), keyed("k1", "c000")])],
  ["and again", () => environment.send([keyed("k1", "c000"), keyed("k3", "new customer")])],
  ["an event lies ahead", () => environment.send([{ customer: "c002", at: ago(-40), event: "login" }])],
  ["it was deferred", () => evaluate()],
  ["a customer was set aside", () => setAside("c003")],
  ["operations were sent for it", () => environment.send([{ customer: "c003", at: ago(0), event: "login" }])],
  ["and skipped", () => evaluate()],
  ["it was released", () => environment.release(null)],
  ["and evaluated", () => evaluate()],
  ["receivers refuse", () => evaluate().then(() => deliver(503))],
  ["another model was deployed", () => environment.deploy(CHANGED)],
  ["operations wait", () => environment.send(CUSTOMERS.map((customer) => ({ customer, at: ago(0), event: "paid" })))],
  ["and were evaluated under it", () => evaluate()],
  ["a dry run", () => recompute({ kind: "dry_run" })],
  ["a recompute, and a customer was erased meanwhile", () => recomputeHalted("c025", () => environment.erase("c024"))],
  ["a recompute of one customer", () => recompute({ customer: "c004" })],
  ["which was erased", () => environment.erase("c004")],
  ["a preview", () => recompute({ kind: "preview", snapshot: MODEL })],
  ["a backtest", () => recompute({ kind: "backtest", question: BACKTEST })],
  ["operations of an unknown customer wait", () => environment.send([keyed("k9", "waits")])],
  ["and it was erased", () => environment.erase("waits")],
  ["time passed", () => environment.evaluate({ at: ago(-30) })],
  ["deliveries are resent", () => resend()],
  ["a webhook is disabled", () => change("segment.*", { disabled: true })],
  ["and misses emissions", () => environment.send([keyed("k4", "c010")]).then(() => evaluate())],
  ["and enabled", () => change("segment.*", { disabled: false })],
  ["and subscribes to other types", () => change("segment.*", { eventTypes: ["customer.*"] })],
  ["a webhook is deleted", () => deleteOne()],
  ["its deliveries are removed in part", () => age().then(() => call(db.sql, "sweep_webhooks", 30, 3))],
  ["old operations are removed", () => retain(30)],
  ["some more were sent", () => environment.send([keyed("k1", "c000"), keyed("k5", "c005")]).then(() => evaluate())],
  ["all old ones are removed", () => retain(1)],
  ["a recompute of the rest", () => recompute({})],
  ["retired keys and superseded logs are removed", () => retireAll()],
];

function ingest(operations: TestOperation[]): Promise<unknown> {
  const keys = operations.map((operation, i) =>
    i % 3 === 0 && operation.event ? { ...operation, key: `h${i}` } : operation,
  );
  return environment.ingest(keys);
}
const evaluate = (options: EvaluateOptions = {}) => environment.evaluate({ settleSeconds: 0, ...options });
const keyed = (key: string, customer: string): TestOperation => ({
  customer,
  at: "2026-02-01T00:00:00Z",
  event: "paid",
  key,
});
const setAside = (customer: string) =>
  db.sql`select svc_api.set_aside_customer(${environment.environmentId}, ${customer}, 'RangeError: beyond')`;

/** Returns a function that is true only the first time. */
function once(): () => boolean {
  let asked = 0;
  return () => ++asked === 1;
}

async function recompute(options: Parameters<typeof queue>[2]): Promise<void> {
  await queue(db.sql, environment, options);
  await worker.runNext();
}

/** Runs a recompute that stops at a customer while `meanwhile` runs. */
async function recomputeHalted(at: string, meanwhile: () => Promise<unknown>): Promise<void> {
  const id = await queue(db.sql, environment);
  let run: Promise<unknown> = Promise.resolve();
  await db.sql.begin(async (tx) => {
    await tx`
      select from svc.customers where environment_id = ${environment.environmentId} and customer_id = ${at} for update`;
    run = worker.runNext();
    const { customers_done: done } = await untilJob(db.sql, id, (job) => job.customers_done === Number(at.slice(1)));
    const [outbox] = await db.sql<[{ waits: boolean }]>`
      select outbox_seq is not null as waits from svc.recomputes where recompute_id = ${id}`;
    expect({ done, ...outbox }).toEqual({ done: 25, waits: true });
    expect(await violations(db.sql)).toEqual([]);
    await meanwhile();
    expect(await violations(db.sql)).toEqual([]);
  });
  await run;
}

async function webhookOf(type: string): Promise<string> {
  const [row] = await db.sql<[{ id: string }]>`
    select webhook_id as id from svc.webhooks where event_types = array[${type}] and deleted_at is null`;
  return row.id;
}
async function change(type: string, changes: object): Promise<void> {
  await call(db.sql, "update_webhook", environment.by, environment.place, await webhookOf(type), changes);
}
async function resend(): Promise<void> {
  await call(db.sql, "resend_deliveries", environment.by, environment.place, await webhookOf("*"), {
    since: new Date(ago(2)),
    until: null,
    statuses: ["failed", "missing", "delivered"],
  });
}
async function deleteOne(): Promise<void> {
  await call(db.sql, "delete_webhook", environment.by, environment.place, await webhookOf("*"));
}
const age = () => db.sql`update svc.webhooks set deleted_at = now() - interval '2 hours' where deleted_at is not null`;
async function retain(days: number): Promise<void> {
  await db.sql`update iam.plans set retention_days = ${days}`;
  await sweep();
}
async function retireAll(): Promise<void> {
  await db.sql`update svc.retired_keys set retired_at = ${ago(91)}`;
  await db.sql`update svc.superseded_logs set superseded_at = ${ago(91)}`;
  const swept = await sweep();
  expect(swept.keys).toBeGreaterThan(0);
  expect(swept.logs).toBeGreaterThan(0);
}

it("no violation is found at any step of a history", { timeout: 120_000 }, async () => {
  for (const [step, act] of STEPS) {
    await act();
    expect([step, await violations(db.sql)]).toEqual([step, []]);
  }
});

it("no violation is found while everything happens at once", { timeout: 120_000 }, async () => {
  await db.sql`update iam.plans set retention_days = null`;
  environment = await TestEnvironment.create(db.sql, MODEL);
  await webhook(["*"]);
  await ingest(historiesOf(CUSTOMERS));
  await environment.evaluate();
  await environment.deploy(CHANGED);
  await db.sql`update iam.plans set retention_days = 30`;
  const jobs = recomputer(db);
  const load = { isRunning: true };
  const rounds = async (amount: number, act: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < amount; n++) await act(n);
  };
  const work = Promise.all([
    rounds(20, (n) =>
      environment
        .send(
          CUSTOMERS.filter((_, i) => i % 5 === n % 5).map((customer) => keyed(`load-${n % 30}-${customer}`, customer)),
        )
        .catch(onlyIf(/erased with its customer/)),
    ),
    rounds(15, () => evaluate()),
    rounds(8, (n) => environment.erase(CUSTOMERS[n * 5]!).catch(onlyIf(/CUSTOMER_NOT_FOUND/))),
    rounds(8, () => deliver(200)),
    rounds(4, () => sweep()),
    rounds(2, async () => {
      const id = await queue(db.sql, environment);
      jobs.wake();
      expect(await untilJob(db.sql, id, isOver)).toMatchObject({ status: "completed" });
    }),
  ]).finally(() => {
    load.isRunning = false;
  });
  // A failure is reported below.
  work.catch(() => undefined);
  // On a cluster they read each node at a different moment.
  while (load.isRunning && !isCluster) expect(await violations(db.sql)).toEqual([]);
  await work;
  await jobs.stop();
  await evaluate();
  expect(await violations(db.sql)).toEqual([]);
});

function onlyIf(message: RegExp): (error: Error) => void {
  return (error) => {
    if (!message.test(error.message)) throw error;
  };
}
