import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { ingestBatch } from "../../src/db/api/ingestion.js";
import { Models } from "../../src/evaluation/models.js";
import { EvaluationTurns } from "../../src/tasks/evaluate/turns.js";
import { count, happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [["quiet", inactiveFor("21d")]], quiet: [] },
  segments: { frequent: count("login", "gte", 3) },
});
const AT = "2026-03-01T10:00:00.000Z";
const CUSTOMERS = Array.from({ length: 60 }, (_, i) => `c${i}`);

const db = await useDatabase();

function logins(customers: string[]): TestOperation[] {
  return customers.map((customer) => ({ customer, at: AT, event: "login" }));
}

/** Counts over an environment that would reveal a lost or duplicate effect. */
async function totals(environment: TestEnvironment): Promise<unknown> {
  const { environmentId } = environment;
  const [row] = await db.sql`
    select
      (select count(*)::integer from svc.inbox where environment_id = ${environmentId}) as pending,
      (select count(*)::integer from svc.lifecycle_transitions where environment_id = ${environmentId}) as transitions,
      (select count(*)::integer from svc.emissions where environment_id = ${environmentId}) as emissions,
      (select sum((state -> 'memory' -> 2 ->> 0)::integer)::integer
       from svc.customers where environment_id = ${environmentId}) as counted`;
  return row;
}

it("concurrent runs on one environment neither lose nor duplicate anything", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  for (let i = 0; i < 4; i++) await environment.ingest(logins(CUSTOMERS));
  const limits = { customers: 7, operations: 20 };
  const sending = (async () => {
    for (let i = 0; i < 4; i++) await environment.ingest(logins(CUSTOMERS));
  })();
  const run = async () => {
    for (let i = 0; i < 4; i++) await environment.evaluate({ at: AT, limits });
  };
  await Promise.all([sending, run(), run(), run()]);
  await environment.evaluate({ at: AT, limits });
  expect(await totals(environment)).toEqual({
    pending: 0,
    transitions: 2 * CUSTOMERS.length,
    emissions: 3 * CUSTOMERS.length,
    counted: 8 * CUSTOMERS.length,
  });
  // The same for timers.
  const due = "2026-04-01T00:00:00.000Z";
  await Promise.all([1, 2, 3].map(() => environment.evaluate({ at: due, limits })));
  await environment.evaluate({ at: due, limits });
  expect(await totals(environment)).toMatchObject({
    transitions: 3 * CUSTOMERS.length,
    emissions: 4 * CUSTOMERS.length,
  });
});

it("a run stops between two chunks on request, and another one continues", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  await environment.ingest(logins(CUSTOMERS));
  let chunks = 0;
  await environment.evaluate({
    at: AT,
    // With the operations of a whole chunk it has the time of one, too, so that it ends by its customers on any machine.
    limits: { customers: 10, operations: 5_000 },
    shouldContinue: () => ++chunks <= 2,
  });
  expect(await environment.pending()).toHaveLength(CUSTOMERS.length - 20);
  await environment.evaluate({ at: AT });
  expect(await environment.pending()).toEqual([]);
});

it("a locked customer with more waiting operations than a chunk reads does not delay others", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  await environment.take({ at: AT }, logins(["busy"]));
  await environment.ingest(logins(Array.from({ length: 40 }, () => "busy")));
  await environment.ingest(logins(["other"]));
  await db.sql.begin(async (holder) => {
    await holder`
      select from svc.customers
      where environment_id = ${environment.environmentId} and customer_id = 'busy'
      for update`;
    await environment.evaluate({ at: AT, limits: { customers: 5, operations: 3 } });
    expect(new Set((await environment.pending()).map(({ customer }) => customer))).toEqual(new Set(["busy"]));
  });
  await environment.evaluate({ at: AT });
  expect(await totals(environment)).toMatchObject({ pending: 0, counted: 42 });
});

it("an evaluation that preceded the commit of a call is repeated shortly after: the call may have relied on its job", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const { environmentId, keyHash } = environment;
  const dependencies = { sql: db.sql, models: new Models(), settleSeconds: 30, logger: runLog() };
  const turns = new EvaluationTurns(dependencies, { workerId: "w", isStopping: () => false });
  const evaluate = () => turns.take({ environmentId, isRetry: false });
  // No worker is notified when a job becomes due that was not due when it was added.
  const jobs = () => db.sql<{ isDue: boolean }[]>`
    select run_at <= created_at as "isDue" from graphile_worker._private_jobs
    where (payload ->> 'environmentId')::integer = ${environmentId} order by id`;
  await environment.ingest(logins(["first"]));

  const caller = await db.sql.reserve();
  await caller`begin`;
  const body = JSON.stringify({ events: [{ type: "track", customerId: "second", event: "login" }] });
  await ingestBatch(caller, { keyHash, batchId: randomUUID(), repeated: false }, body);
  expect(await jobs(), "only the first call's").toEqual([{ isDue: true }]);
  await db.sql`delete from graphile_worker._private_jobs`; // a worker takes it
  await evaluate();
  await caller`commit`;
  caller.release();
  await expect.poll(jobs).toEqual([{ isDue: true }]);

  await db.sql`delete from graphile_worker._private_jobs`;
  await evaluate();
  expect(await environment.pending()).toEqual([]);
  expect(await jobs()).toEqual([]);
});
