import { expect, it } from "vitest";
import { aggregate, distinct, healthOf, sequence, snapshotOf, summed } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { documentOf, emissionsOf, engineOperations, iso, modelOf, newRun } from "./support/engine.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";

const HOUR = 60 * 60_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const ACCEPTED = "2026-06-01T00:00:00.000Z";
const END = "2026-07-01T00:00:00.000Z";

/** Windows that hold more occurrences than the engine remembers, and a score that shows each change of a sum. */
const MODEL = snapshotOf({
  segments: {
    rich: aggregate("sum", ["paid", "x"], "gte", 30, { within: "3d" }),
    steady: aggregate("avg", ["paid", "x"], "lt", 0.5, { within: "4d" }),
    peak: aggregate("max", ["paid", "x"], "gte", 0.9, { within: "2d" }),
    varied: distinct(["paid", "x"], "gte", 5, { within: "2d" }),
    bought: sequence("login", "paid", "12h"),
  },
  health: healthOf({ revenue: summed(["paid", "x"], 100, { within: "5d" }) }, { good: 40, poor: 0 }),
});

const db = await useDatabase();

/** Payments of varying amounts, an hour apart; every seventh is a login instead. */
function payments(count: number): TestOperation[] {
  return Array.from({ length: count }, (_, i) => {
    const occurred = iso(START + i * HOUR);
    if (i % 7 === 3) return { at: ACCEPTED, event: "login", occurred };
    return { at: ACCEPTED, event: "paid", occurred, properties: { x: ((i * 37) % 100) / 100 } };
  });
}

const IN_ORDER = payments(300);
/** Every third one is sent at the end, newest first. */
const LATE_LAST = [
  ...IN_ORDER.slice(0, 200).filter((_, i) => i % 3 !== 1),
  ...IN_ORDER.slice(0, 200)
    .filter((_, i) => i % 3 === 1)
    .reverse(),
];

it.each([
  ["in order, in large chunks,", IN_ORDER, { customers: 500, operations: 5_000 }],
  ["late, in small chunks,", LATE_LAST, { customers: 1, operations: 11 }],
])("windows over hundreds of events %s are as with the whole history loaded", async (_, operations, limits) => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const seqs: number[] = [];
  for (let i = 0; i < operations.length; i += 500)
    seqs.push(...(await environment.ingest(operations.slice(i, i + 500))));
  for (const at of [ACCEPTED, END]) await environment.evaluate({ at, limits });
  expect(await environment.setAside()).toEqual([]);

  const run = newRun(modelOf(MODEL), "c1", ACCEPTED);
  for (const operation of engineOperations(operations, seqs)) run.take([operation]);
  run.tick(Date.parse(END));
  expect(run.requests.length, "the engine had to ask").toBeGreaterThan(10);
  expect(JSON.stringify(await environment.document())).toEqual(documentOf(run));
  const emissions = await environment.emissions();
  expect([...emissions]).toEqual(emissionsOf(run));
  expect(emissions.length).toBeGreaterThan(3);
});

it("a new version's memory is rebuilt, and the events it lacks are read from history", async () => {
  const environment = await TestEnvironment.create(db.sql, snapshotOf({}));
  const operations = payments(400);
  const seqs = await environment.ingest(operations);
  await environment.evaluate({ at: ACCEPTED, limits: { customers: 1, operations: 50 } });
  await environment.deploy(MODEL);
  const next = {
    at: "2026-06-01T01:00:00.000Z",
    event: "paid",
    occurred: iso(START + 400 * HOUR),
    properties: { x: 1 },
  };
  const [seq] = await environment.ingest([next]);
  await environment.evaluate({ at: "2026-06-01T01:00:00.000Z", limits: { customers: 1, operations: 50 } });
  const run = newRun(modelOf(snapshotOf({})), "c1", ACCEPTED);
  run.take(engineOperations(operations, seqs));
  run.changeVersion(modelOf(MODEL));
  run.take(engineOperations([next], [seq!]));
  const { segments, health } = await environment.document();
  expect({ segments, health }).toEqual({
    segments: Object.keys(run.state.segments).sort(),
    health: run.state.health,
  });
  expect(segments).toContain("bought");
});
