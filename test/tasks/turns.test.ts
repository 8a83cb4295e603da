import type { AddJobFunction } from "graphile-worker";
import { afterEach, expect, it, vi } from "vitest";
import { Models } from "../../src/evaluation/models.js";
import { evaluateEnvironment } from "../../src/tasks/evaluate/evaluate-environment.js";
import { EvaluationTurns } from "../../src/tasks/evaluate/turns.js";
import { happened, inState, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";
import { TestEnvironment } from "./support/environment.js";
import { startTestWorker } from "./support/worker.js";

const DAY_MS = 86_400_000;

const db = await useDatabase();

afterEach(() => {
  vi.useRealTimers();
});

// Each event is followed by a thousand transitions.
const CIRCLE = snapshotOf({ states: { a: [["b", inState("1m")]], b: [["a", inState("1m")]] } });

const ACTIVATED = snapshotOf({ states: { new: [["activated", happened("login")]], activated: [] } });

function newTurns(): EvaluationTurns {
  const dependencies = { sql: db.sql, models: new Models(), settleSeconds: 30, logger: runLog() };
  return new EvaluationTurns(dependencies, { workerId: "w", isStopping: () => false });
}

/** Sends more than one turn can evaluate. */
async function flood(environment: TestEnvironment): Promise<void> {
  const now = Date.now();
  await environment.send(
    Array.from({ length: 1_000 }, (_, i) => {
      const at = new Date(now - (400 - Math.floor(i / 20)) * DAY_MS).toISOString();
      return { customer: `c${i % 20}`, at, occurred: at, event: "login" };
    }),
  );
}

it("work left by a turn continues in two jobs, or in one if another environment has a turn", async () => {
  const turns = newTurns();
  const [first, second] = [await TestEnvironment.create(db.sql, CIRCLE), await TestEnvironment.create(db.sql, CIRCLE)];
  await flood(first);
  await flood(second);
  let jobs: number[] = [];
  const addJob = ((_, { environmentId }: { environmentId: number }) => {
    jobs.push(environmentId);
    return Promise.resolve({});
  }) as AddJobFunction;
  const take = ({ environmentId }: TestEnvironment) => turns.take({ environmentId, isRetry: false, addJob });
  await take(first);
  expect(jobs).toEqual([first.environmentId, first.environmentId]);
  jobs = [];
  await Promise.all([take(first), take(second)]);
  const [before, after, ...more] = jobs;
  expect(new Set([before, after])).toEqual(new Set([first.environmentId, second.environmentId]));
  expect(more).toEqual([after]);
});

it("work of customers that are too large for one chunk is left, too", async () => {
  const environment = await TestEnvironment.create(db.sql, ACTIVATED);
  const { environmentId } = environment;
  const at = new Date().toISOString();
  const logins = Array.from({ length: 12 }, (_, i) => ({ customer: `c${i}`, at, event: "login" }));
  await environment.send(logins);
  const dependencies = { sql: db.sql, models: new Models(), settleSeconds: 30, logger: runLog() };
  expect(await evaluateEnvironment(dependencies, environmentId)).toBe("idle");
  await db.sql`
    update svc.customers set traits = json_build_object('note', repeat('x', 1000000)) where environment_id = ${environmentId}`;
  await environment.send(logins);
  let chunks = 0;
  expect(await evaluateEnvironment(dependencies, environmentId, () => chunks++ === 0)).toBe("stopped");
  expect(await evaluateEnvironment(dependencies, environmentId, () => chunks++ === 2)).toBe("paused");
});

it("operations sent while an environment with little work is evaluated wait for that turn, unless it takes long", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const turns = newTurns();
  const environment = await TestEnvironment.create(db.sql, ACTIVATED);
  const addJob = (() => Promise.resolve({})) as unknown as AddJobFunction;
  const take = () => turns.take({ environmentId: environment.environmentId, isRetry: false, addJob });
  const send = (customer: string, event = "login") =>
    environment.send([{ customer, at: new Date().toISOString(), event }]);
  const waitForIt = () => db.sql`
    select from pg_locks where relation = 'svc.lifecycle_transitions'::regclass and not granted`;
  await send("first", "signup");
  await send("second", "signup");
  await take();
  await send("first");
  let turn: Promise<unknown> = Promise.resolve();
  await db.sql.begin(async (tx) => {
    await tx`lock table svc.lifecycle_transitions in share mode`;
    turn = take();
    await expect.poll(waitForIt).toHaveLength(1);
    await send("second");
    // A separate turn would also wait for the lock.
    await take();
    expect(await waitForIt()).toHaveLength(1);
    vi.advanceTimersByTime(1_100);
    turn = Promise.all([turn, take()]);
    await expect.poll(waitForIt).toHaveLength(2);
  });
  await turn;
  expect(await environment.pending()).toEqual([]);
});

it("an event of one environment is evaluated while another has a lot of work, whichever job requests it", async () => {
  const flooding = await TestEnvironment.create(db.sql, CIRCLE);
  const quiet = await TestEnvironment.create(db.sql, ACTIVATED);
  await flood(flooding);
  await startTestWorker(db, { concurrency: 4 });
  const transitions = () => db.sql`
    select from svc.lifecycle_transitions where environment_id = ${flooding.environmentId} limit 1001`;
  await expect.poll(transitions, { timeout: 30_000 }).toHaveLength(1_001);
  for (let i = 0; i < 5; i++) {
    const customer = `q${i}`;
    await quiet.send([{ customer, at: new Date().toISOString(), event: "login" }]);
    await expect
      .poll(() => db.sql`select lifecycle from svc.customers where customer_id = ${customer}`, { timeout: 30_000 })
      .toEqual([{ lifecycle: "activated" }]);
  }
  expect(await flooding.pending()).not.toEqual([]);
});

it("a worker whose tick gets no answer reports that it is stuck, and recovers if the answer still comes", async () => {
  const onStalled = vi.fn();
  // The tick waits for this lock like for an answer that never comes.
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let blocked: Promise<unknown> = Promise.resolve();
  await new Promise<void>((locked) => {
    blocked = db.sql.begin(async (tx) => {
      await tx`lock table svc.workers in access exclusive mode`;
      locked();
      await released;
    });
  });
  await startTestWorker(db, { onStalled, silenceMsMax: 200 });
  await vi.waitFor(() => expect(onStalled).toHaveBeenCalledOnce());
  release();
  await blocked;
  await vi.waitFor(async () => expect(await db.sql`select from svc.workers`).toHaveLength(1), { timeout: 10_000 });
});
