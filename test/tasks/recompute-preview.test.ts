import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { activeWithin, counted, happened, healthOf, snapshotOf, type StepParts } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import type { TestEnvironment } from "./support/environment.js";
import { everything } from "./support/kept.js";
import { CHANGED, populated, POPULATION_THROUGH as AT } from "./support/population.js";
import { differencesOf, jobOf, JobRunner, type QueueOptions } from "./support/recompute.js";

const db = await useDatabase();
const runner = new JobRunner(db);

afterEach(() => runner.end());

/** Runs a job to its end. */
async function run(environment: TestEnvironment, options: QueueOptions) {
  const id = await runner.complete(environment, { at: AT, ...options });
  const job = await jobOf(db.sql, id);
  expect(job.status).toBe("completed");
  return { job, found: await differencesOf(db.sql, id) };
}

const preview = (environment: TestEnvironment, snapshot: Snapshot, sample?: number) =>
  run(environment, { kind: "preview", snapshot, ...(sample === undefined ? {} : { sample }) });

it("lists a signal that stays raised with another severity or message, which evaluation leaves as it was raised", async () => {
  const signals = (severity: "warning" | "critical", message: string) =>
    snapshotOf({
      signals: { used: { when: happened("login"), severity, message }, kept: { when: happened("login") } },
    });
  const environment = await populated(db.sql, 12, signals("warning", "used"));
  for (const other of [signals("critical", "used"), signals("warning", "much used")]) {
    const { job, found } = await preview(environment, other);
    expect(job).toMatchObject({ customers_changed: found.length, signals_raised: 0, signals_cleared: 0 });
    expect(found.length).toBeGreaterThan(3);
    for (const { signals: changed } of found)
      expect(changed).toEqual({ before: ["kept", "used"], after: ["kept", "used"], changed: ["used"] });
  }
  expect((await preview(environment, signals("warning", "used"))).found).toEqual([]);
});

it("is empty if a model only lists the components of the health, or steps in any order, in another order", async () => {
  const when = activeWithin("3650d");
  const ordered = (reverse: boolean) => {
    const components = Object.entries({ often: counted("login", 2), ever: counted("login", 1) });
    const steps: StepParts[] = [
      ["one", when],
      ["other", when],
    ];
    if (reverse) for (const parts of [components, steps]) parts.reverse();
    return snapshotOf({
      health: healthOf(Object.fromEntries(components), { good: 50, poor: 0 }),
      journeys: { j: { start: happened("login"), steps: [...steps, ["last", when]], anyOrder: true } },
    });
  };
  const environment = await populated(db.sql, 12, ordered(false));
  const { job, found } = await preview(environment, ordered(true));
  expect(found).toEqual([]);
  expect(job).toMatchObject({ customers_changed: 0, health_changed: 0 });
});

describe("its baseline", () => {
  it("is empty before the first deploy", async () => {
    // Operations are evaluated anyway.
    const environment = await populated(db.sql, 12, null);
    const empty = { configVersion: null, lifecycle: null, traits: { plan: "pro" }, lastEventAt: null };
    expect(await environment.document("c000")).toMatchObject(empty);
    expect([...(await environment.pending()), ...(await environment.emissions("c011"))]).toEqual([]);
    const before = await everything(environment);
    const { found } = await preview(environment, CHANGED);
    expect(found).toHaveLength(12);
    for (const { lifecycle, health, segments, journeys } of found) {
      expect({ lifecycle: lifecycle.before, health: health.before, segments: segments.before }).toEqual({
        lifecycle: null,
        health: null,
        segments: [],
      });
      expect(lifecycle.after).not.toBeNull();
      expect(journeys.before).toEqual([]);
    }
    expect(await everything(environment)).toEqual(before);
    await environment.deploy(CHANGED);
    await environment.take({ at: AT }, [{ customer: "c000", at: AT, event: "other" }]);
    expect(await environment.document("c000")).toMatchObject({ configVersion: "v1", segments: ["pro"] });
  });

  it("yields an expiration only if the active version has none, and no other history", async () => {
    const expiring = (expiresAfter: string) =>
      snapshotOf({
        journeys: { start: { start: happened("login"), steps: [["paid", happened("created")]], expiresAfter } },
      });
    const environment = await populated(db.sql, 12, expiring("2d"));
    const { found } = await preview(environment, expiring("3d"));
    expect(found.flatMap(({ emissions }) => emissions)).toEqual([]);
    const { found: never } = await preview(environment, expiring("300d"));
    expect(never.length).toBeGreaterThan(3);
    await environment.deploy(expiring("300d"));
    const { found: soon } = await preview(environment, expiring("2d"));
    for (const { emissions } of soon)
      expect(emissions.map(({ eventType }) => eventType)).toEqual(emissions.length === 0 ? [] : ["journey.expired"]);
  });
});

it("a sample has about the requested number of customers, always the same ones, with the same results as the full preview", async () => {
  const environment = await populated(db.sql, 120);
  const { found: all } = await preview(environment, CHANGED);
  const { job, found } = await preview(environment, CHANGED, 40);
  expect(job.customers_done).toBe(job.customers_total);
  expect(job.customers_total).toBeGreaterThan(25);
  expect(job.customers_total).toBeLessThan(55);
  const ids = new Set(found.map(({ customerId }) => customerId));
  expect(found.length).toBeGreaterThan(10);
  expect(all.filter(({ customerId }) => ids.has(customerId)).map((one) => ({ ...one, emissions: [] }))).toEqual(
    found.map((one) => ({ ...one, emissions: [] })),
  );
  const again = await preview(environment, CHANGED, 40);
  expect(again.found.map(({ customerId }) => customerId)).toEqual([...ids]);
  for (const sample of [120, 1_000]) {
    const { job: all } = await preview(environment, CHANGED, sample);
    expect(all, "as large as the population").toMatchObject({ customers_total: 120, customers_done: 120 });
  }
  const fewer = await preview(environment, CHANGED, 12);
  for (const { customerId } of fewer.found) expect(ids, "a smaller sample is a part of it").toContain(customerId);
});
