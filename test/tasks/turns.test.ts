import { expect, it } from "vitest";
import { count, happened, inState, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";
import { startTestWorker } from "./support/worker.js";

const DAY_MS = 86_400_000;

const db = useDatabase();

it("an event of one environment is evaluated while another has work for long, in whatever job it came", async () => {
  // Each event is followed by a thousand transitions.
  const circle = snapshotOf({ states: { a: [["b", inState("1m")]], b: [["a", inState("1m")]] } });
  const flooding = await TestEnvironment.create(db.sql, circle);
  const quiet = await TestEnvironment.create(
    db.sql,
    snapshotOf({ states: { new: [["activated", happened("login")]], activated: [] } }),
  );
  const now = Date.now();
  for (let batch = 0; batch < 3; batch++) {
    await flooding.send(
      Array.from({ length: 1_000 }, (_, i) => {
        const at = new Date(now - (400 - batch * 100 - Math.floor(i / 20)) * DAY_MS).toISOString();
        return { customer: `c${i % 20}`, at, occurred: at, event: "login" };
      }),
    );
  }
  await startTestWorker(db, { concurrency: 4 });
  const transitionsOf = async ({ environmentId }: TestEnvironment) => {
    const [row] = await db.sql<[{ count: number }]>`
      select count(*)::integer as count from svc.lifecycle_transitions where environment_id = ${environmentId}`;
    return row.count;
  };
  await expect.poll(() => transitionsOf(flooding), { timeout: 30_000 }).toBeGreaterThan(1_000);
  for (let i = 0; i < 10; i++) {
    const customer = `q${i}`;
    await quiet.send([{ customer, at: new Date().toISOString(), event: "login" }]);
    await expect
      .poll(() => db.sql`select lifecycle from svc.customers where customer_id = ${customer}`, { timeout: 30_000 })
      .toEqual([{ lifecycle: "activated" }]);
  }
  expect(await flooding.pending()).not.toEqual([]);
});

it("thousands of events that lay ahead, sent in the wrong order, are evaluated in the right one, some at a time", async () => {
  const EVENTS = 2_500;
  const at = "2026-03-02T10:00:00.000Z";
  const after = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
  const environment = await TestEnvironment.create(
    db.sql,
    snapshotOf({ states: { new: [["all", count("login", "gte", EVENTS)]], all: [] } }),
  );
  // The last one first, from ten minutes on.
  const events = Array.from({ length: EVENTS }, (_, i) => ({
    customer: "c",
    at,
    event: "login",
    occurred: after(600_000 + EVENTS - i),
  }));
  for (let from = 0; from < EVENTS; from += 1_000) await environment.ingest(events.slice(from, from + 1_000));
  await environment.evaluate({ at });
  expect(await environment.document("c")).toMatchObject({ lifecycle: "new", lastEventAt: null });
  await environment.evaluate({ at: after(610_000) });
  expect(await environment.pending()).toEqual([]);
  expect(await environment.document("c")).toMatchObject({
    lifecycle: "all",
    lifecycleEnteredAt: after(600_000 + EVENTS),
    lastEventAt: after(600_000 + EVENTS),
  });
});
