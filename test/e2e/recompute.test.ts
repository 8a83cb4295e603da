import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, expect, it } from "vitest";
import { happened } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { violations } from "../support/invariants.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { changeTriggers } from "../support/triggers.js";
import type { TestEnvironment } from "../tasks/support/environment.js";
import { derived, everything } from "../tasks/support/kept.js";
import { CHANGED as OTHER, customersOf, populated } from "../tasks/support/population.js";
import { evaluatedEvents, expectReplayed, replayedTo } from "../tasks/support/replayed.js";
import { isOver, type JobRow, queue, untilJob } from "../tasks/support/recompute.js";

const CUSTOMERS = customersOf(200);
const KILLS = 4;
/** The service starts slowly on a busy machine. */
const TIMEOUT = { timeout: 180_000 };
/** A model with a segment that only events sent during a run fill. */
const CHANGED = { ...OTHER, segments: [...OTHER.segments, { id: "noticed", when: happened("created") }] };

const db = await useDatabase();
const running = new Set<ServiceProcess>();

// Simulates a slow disk, to leave time for kills; it changes nothing else.
beforeAll(() =>
  changeTriggers(
    db.sql,
    "create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.004); return null; end'",
    "create trigger slow after update of customers_done on svc.recomputes for each statement execute function slow()",
  ),
);
afterEach(() => Promise.all([...running].map((service) => service.stop())));

async function start(): Promise<ServiceProcess> {
  const service = await startServiceProcess(db.url);
  running.add(service);
  return service;
}

/** Customers with a history, evaluated until now under the first model; the changed model is active. */
async function outdated(): Promise<TestEnvironment> {
  const environment = await populated(db.sql, CUSTOMERS.length);
  await environment.evaluate();
  await environment.deploy(CHANGED);
  return environment;
}

/** Emissions of a job that have no outbox row, or more than one. */
const unlisted = (id: string) => db.sql`
  select m.emission_seq from svc.emissions as m
  where m.cause_id = ${id} and (
    select count(*) from svc.emission_batches as b
    where b.environment_id = m.environment_id and b.evaluation_seq = m.emission_seq >> 16
      and m.emission_seq & 65535 < b.emissions
  ) <> 1`;

it(
  "a run whose service is killed repeatedly continues each time, and ends like an undisturbed one",
  TIMEOUT,
  async () => {
    const [undisturbed, disturbed] = [await outdated(), await outdated()];
    const service = await start();
    const at = new Date().toISOString();
    const first = await queue(db.sql, undisturbed, { at });
    await untilJob(db.sql, first, isOver);
    await service.stop();

    const second = await queue(db.sql, disturbed, { at });
    let child = await start();
    let kills = 0;
    let done = 0;
    for (; kills < KILLS; kills++) {
      // A random moment each time, before the run is over.
      const share = ((CUSTOMERS.length - done) / (KILLS + 1 - kills)) * (0.2 + 1.4 * Math.random());
      // A killed process's last customer may be committed after `done` was read, before the next process has begun.
      const hasCome = (now: JobRow) => now.attempt > kills && now.customers_done >= done + share;
      const job = await untilJob(db.sql, second, (now) => isOver(now) || hasCome(now));
      if (isOver(job)) break;
      await child.stop();
      ({ customers_done: done } = await untilJob(db.sql, second, () => true));
      child = await start();
    }
    expect(kills).toBeGreaterThan(1);
    const job = await untilJob(db.sql, second, isOver);
    expect(job).toMatchObject({ status: "completed", error: null, customers_total: 200, customers_done: 200 });
    expect(job.attempt).toBeGreaterThan(kills);
    const { attempt: _attempt, failures: _failures, ...totals } = job;
    expect(await untilJob(db.sql, first, isOver)).toMatchObject(totals);
    expect(await derived(disturbed)).toEqual(await derived(undisturbed));
    expect(await unlisted(second)).toEqual([]);
    expect(await violations(db.sql)).toEqual([]);
  },
);

it("operations that arrive during a run are not lost, nor are late events", TIMEOUT, async () => {
  const environment = await outdated();
  const before = (await everything(environment)).events.length;
  await start();
  const id = await queue(db.sql, environment);
  let sent = 0;
  for (let round = 0; round === 0 || !isOver(await untilJob(db.sql, id, () => true)); round++) {
    const now = new Date().toISOString();
    // For customers before, at, and after the one being written: late events, current events, and traits.
    const customers = CUSTOMERS.filter((_, i) => (i + round) % 7 === 0);
    await environment.send(
      customers.flatMap((customer) => [
        { customer, at: now, event: "created", occurred: "2026-01-20T00:00:00.000Z" },
        { customer, at: now, event: "login" },
        { customer, at: now, traits: { plan: round % 2 === 0 ? "pro" : "free" } },
      ]),
    );
    sent += 2 * customers.length;
    await delay(200);
  }
  expect(await untilJob(db.sql, id, isOver)).toMatchObject({ status: "completed", customers_done: 200 });
  while ((await environment.pending()).length > 0) await delay(20);
  expect(await environment.setAside()).toEqual([]);
  const counts = new Map<string, number>();
  for (const customer of CUSTOMERS) {
    const events = await evaluatedEvents(environment, customer);
    counts.set(customer, events.length);
    const { segments } = await environment.document(customer);
    expect(segments.includes("noticed"), customer).toBe(events.some(({ event }) => event === "created"));
  }
  expect([...counts.values()].reduce((sum, count) => sum + count)).toBe(before + sent);

  // Another run brings all customers to the state that a replay of everything gives.
  const at = new Date().toISOString();
  const last = await queue(db.sql, environment, { at });
  expect(await untilJob(db.sql, last, isOver)).toMatchObject({ status: "completed", customers_done: 200 });
  for (const customer of CUSTOMERS.filter((_, i) => i % 5 === 0)) {
    await expectReplayed(environment, customer, await replayedTo(environment, CHANGED, at, customer));
  }
  expect(await unlisted(last)).toEqual([]);
  expect(await unlisted(id)).toEqual([]);
  expect(await violations(db.sql)).toEqual([]);
});
