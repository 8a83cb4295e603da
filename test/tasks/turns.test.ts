import { randomBytes } from "node:crypto";
import type { PendingQuery, Row } from "postgres";
import { afterEach, expect, it, vi } from "vitest";
import { call } from "../../src/db/api/call.js";
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

/** Empties the queue of evaluations; returns the environments in the order in which workers would take them. */
async function takeJobs(): Promise<number[]> {
  const rows = await db.sql<{ environmentId: number }[]>`
    with taken as (
      delete from graphile_worker._private_jobs as j
      using graphile_worker._private_tasks as t
      where t.id = j.task_id and t.identifier = 'evaluate'
      returning j.*
    )
    select (payload ->> 'environmentId')::integer as "environmentId" from taken order by priority, run_at, id`;
  return rows.map(({ environmentId }) => environmentId);
}

it("work left by a turn continues in two jobs, or in one if another environment has a turn", async () => {
  const turns = newTurns();
  const [first, second] = [await TestEnvironment.create(db.sql, CIRCLE), await TestEnvironment.create(db.sql, CIRCLE)];
  await flood(first);
  await flood(second);
  const take = ({ environmentId }: TestEnvironment) => turns.take({ environmentId, isRetry: false });
  await takeJobs();
  await take(first);
  expect(await takeJobs()).toEqual([first.environmentId, first.environmentId]);
  await Promise.all([take(first), take(second)]);
  const [before, after, ...more] = await takeJobs();
  expect(new Set([before, after])).toEqual(new Set([first.environmentId, second.environmentId]));
  expect(more).toEqual([after]);
});

/** The environments of an organization with as many projects, two each. */
async function environmentsOf({ by }: TestEnvironment, projects: number): Promise<number[]> {
  for (let more = 1; more < projects; more++) {
    const key = () => ({ hash: randomBytes(32), hint: "svc_" });
    await call(db.sql, "create_project", by, { name: "App", slug: `more-${more}` }, { test: key(), live: key() });
  }
  const rows = await db.sql<{ id: number }[]>`
    select e.environment_id as id from svc.environments as e join svc.projects as p using (project_id)
    where p.organization_id = ${by.organizationId} order by id`;
  return rows.map(({ id }) => id);
}

const request = (environments: number[]) => db.sql`select svc.request_evaluation(${environments})`;

it("organizations take turns in the queue, however many environments they have", async () => {
  const many = await environmentsOf(await TestEnvironment.create(db.sql), 4);
  const few = await environmentsOf(await TestEnvironment.create(db.sql), 1);
  await takeJobs();
  for (const environment of many) await request([environment]);
  await request([few[0]!]);
  await request([few[1]!]);
  const [first, second, third] = many;
  expect(await takeJobs()).toEqual([first, few[0], second, few[1], third, ...many.slice(3)]);
  // Also those that are requested together.
  await request([...many, ...few]);
  const together = await takeJobs();
  expect(new Set(together.slice(0, 2))).toEqual(new Set([first, few[0]]));
  expect(new Set(together.slice(2, 4))).toEqual(new Set([second, few[1]]));
});

it("work that was left takes its turn after a second, even if environments with little work always wait", async () => {
  const requested = await environmentsOf(await TestEnvironment.create(db.sql), 3);
  const [left] = await environmentsOf(await TestEnvironment.create(db.sql), 1);
  await takeJobs();
  await call(db.sql, "continue_evaluation", left!, 1);
  const ours = new Set([...requested, left]);
  const ticked = async () => {
    await request(requested);
    await db.sql`select svc_api.request_due_evaluations(interval '1 minute')`;
    return (await takeJobs()).filter((id) => ours.has(id)); // those of other tests may be due
  };
  expect(await ticked()).toEqual([...requested, left]);
  await call(db.sql, "continue_evaluation", left!, 1);
  await db.sql`update graphile_worker._private_jobs set created_at = created_at - interval '2 seconds'`;
  const jobs = await ticked();
  expect(jobs[0]).toBe(requested[0]);
  expect(jobs.indexOf(left!)).toBeLessThan(3);
  expect(new Set(jobs)).toEqual(ours);
});

/** Changes the jobs of an environment, as graphile-worker does. */
const update = (environment: number, change: PendingQuery<Row[]>) =>
  db.sql`update graphile_worker._private_jobs set ${change} where (payload ->> 'environmentId')::integer = ${environment}`;

it("a job that failed for good does not bring its organization's other jobs forward", async () => {
  const many = await environmentsOf(await TestEnvironment.create(db.sql), 2);
  const [one] = await environmentsOf(await TestEnvironment.create(db.sql), 1);
  await takeJobs();
  await request([many[0]!]);
  await update(many[0]!, db.sql`attempts = max_attempts, run_at = run_at - interval '1 day'`);
  await request([one!]);
  await request(many.slice(1));
  expect(await takeJobs()).toEqual([many[0], one, ...many.slice(1)]);
});

it("an organization's turn is not put off by its jobs that are under way since the queue was empty", async () => {
  const many = await environmentsOf(await TestEnvironment.create(db.sql), 2);
  const [one] = await environmentsOf(await TestEnvironment.create(db.sql), 1);
  await takeJobs();
  await request([many[0]!]);
  // Where jobs always waited, rounds are behind the time.
  await update(many[0]!, db.sql`locked_at = now(), locked_by = 'worker', run_at = run_at - interval '1 hour'`);
  await request([one!]);
  await request(many.slice(1));
  expect(await takeJobs()).toEqual([many[0], one, ...many.slice(1)]);
});

it.each([1, 10])("a job of priority %i that failed is tried again, although others always wait", async (priority) => {
  const many = await environmentsOf(await TestEnvironment.create(db.sql), 3);
  const [one] = await environmentsOf(await TestEnvironment.create(db.sql), 1);
  await takeJobs();
  await request([...many, one!]);
  await db.sql`update graphile_worker._private_jobs set priority = ${priority}, created_at = created_at - interval '2 seconds'`;
  await update(one!, db.sql`attempts = 1, run_at = now()`);
  await db.sql`select svc.advance_evaluations()`;
  const jobs = await takeJobs();
  expect(jobs.indexOf(one!)).toBeLessThan(3);
  expect(new Set(jobs)).toEqual(new Set([...many, one]));
});

it("an environment that has to be looked at again does not wait for the next attempt of a failed job", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql);
  await takeJobs();
  await request([environmentId]);
  await update(environmentId, db.sql`attempts = 1, run_at = now() + interval '7 seconds'`);
  await call(db.sql, "continue_evaluation", environmentId, 0);
  const due = await db.sql`select from graphile_worker._private_jobs where is_available and run_at <= now()`;
  expect(due).toHaveLength(1);
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
  const take = () => turns.take({ environmentId: environment.environmentId, isRetry: false });
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
