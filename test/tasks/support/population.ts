import type { Sql } from "postgres";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import {
  addTo,
  aggregate,
  count,
  counted,
  emit,
  happened,
  healthOf,
  inactiveFor,
  inSegment,
  rule,
  snapshotOf,
  trait,
} from "../../engine/support/builders.js";
import { TestEnvironment, type TestOperation } from "./environment.js";

/** The beginning of a population's history, and an instant after its last event. */
const POPULATION_FROM = Date.parse("2026-01-01T00:00:00Z");
export const POPULATION_THROUGH = "2026-03-01T00:00:00.000Z";

const HOUR = 3_600_000;

/** A model with every kind of part. The two versions differ in everything that a recompute rebuilds. */
function model(changed: boolean): Snapshot {
  return snapshotOf({
    states: {
      new: [["active", count("login", "gte", changed ? 3 : 2)]],
      active: [["quiet", inactiveFor(changed ? "30d" : "21d")]],
      quiet: [["active", happened("login", { within: "1d" })]],
    },
    journeys: {
      onboarding: {
        start: happened("login"),
        steps: [
          ["try", happened("a")],
          ["pay", count("paid", "gte", changed ? 1 : 2)],
        ],
        expiresAfter: changed ? "2d" : "5d",
      },
    },
    segments: {
      frequent: count("login", "gte", changed ? 4 : 3),
      rich: aggregate("sum", ["paid", "x"], "gte", 30, { within: changed ? "3d" : "2d" }),
      pro: trait("plan", "eq", "pro"),
      picked: null,
    },
    health: healthOf({ use: counted("a", changed ? 4 : 8) }, { good: 50, poor: 0 }),
    rules: {
      pick: rule("paid", addTo("picked"), { when: count("paid", "gte", changed ? 1 : 2), cooldown: "6h" }),
      welcome: rule({ kind: "traitsChanged" }, emit("trial.welcomed")),
    },
    signals: { hot: { when: inSegment("picked") } },
  });
}

/** The models that a population is evaluated and recomputed under. */
export const MODEL = model(false);
export const CHANGED = model(true);

/** `c000`, `c001`, …: in order of their ids. */
export function customersOf(amount: number, prefix = "c"): string[] {
  return Array.from({ length: amount }, (_, i) => `${prefix}${String(i).padStart(3, "0")}`);
}

/** Histories that differ by the customer's position: from only traits to a dozen events in three weeks. */
export function historiesOf(customers: readonly string[]): TestOperation[] {
  return customers.flatMap((customer, i): TestOperation[] => {
    const operations: TestOperation[] = [];
    const add = (hours: number, operation: Omit<TestOperation, "at" | "customer">): void => {
      operations.push({
        customer,
        at: new Date(POPULATION_FROM + (hours + (i % 24)) * HOUR).toISOString(),
        ...operation,
      });
    };
    if (i % 3 === 0) add(0, { traits: { plan: i % 2 === 0 ? "pro" : "free" } });
    for (let day = 0; day < i % 6; day++) add(24 * day * (1 + (i % 3)) + 1, { event: "login" });
    for (let n = 0; n < i % 5; n++) add(30 * n + 2, { event: "a", properties: { x: n } });
    for (let n = 0; n < i % 4; n++) add(20 * n + 3, { event: "paid", properties: { x: 10 + i } });
    if (operations.length === 0) add(5, { event: "other" });
    return operations.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  });
}

/** An environment with `amount` customers, evaluated under the first model unless another, or none, is given. */
export async function populated(sql: Sql, amount: number, given: Snapshot | null = MODEL): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(sql, given ?? undefined);
  const operations = historiesOf(customersOf(amount));
  for (let i = 0; i < operations.length; i += 1_000) await environment.ingest(operations.slice(i, i + 1_000));
  await environment.evaluate({ at: POPULATION_THROUGH });
  return environment;
}

/** The same, with the second model deployed afterwards. */
export async function outdated(sql: Sql, amount: number): Promise<TestEnvironment> {
  const environment = await populated(sql, amount);
  await environment.deploy(CHANGED);
  return environment;
}
