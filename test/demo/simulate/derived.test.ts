import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { simulateHistory } from "../../../src/demo/simulate/history.js";
import { compileProject } from "../../../src/dsl-compiler/index.js";
import { compileModel, evaluate, newCustomer, type CustomerState, type Operation } from "../../../src/engine/index.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";

const BASE = Date.UTC(2026, 2, 2, 15);
const HOUR_MS = 3_600_000;

describe("what the example model makes of the simulated history", () => {
  let snapshot: Snapshot;
  let states: CustomerState[];
  beforeAll(async () => {
    const compiled = await compileProject(path.resolve(import.meta.dirname, "../../../examples/saas"));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    ({ snapshot } = compiled);
    const model = compileModel(snapshot, compiled.hash);
    const acceptedAt = BASE + HOUR_MS / 2;
    const customers = new Map<string, Operation[]>();
    for (const [seq, one] of simulateHistory({ seed: 1, customers: 500, days: 120, base: BASE }).entries()) {
      const operations = customers.get(one.customerId) ?? [];
      customers.set(one.customerId, operations);
      if (one.type === "identify") operations.push({ kind: "identify", seq, traits: one.traits, acceptedAt });
      else {
        const { event, properties, timestamp } = one;
        const occurredAt = Date.parse(timestamp);
        operations.push({ kind: "track", seq, eventId: `evt_${seq}`, event, properties, occurredAt, acceptedAt });
      }
    }
    states = [...customers].map(
      ([id, operations]) =>
        evaluate(model, newCustomer(id, acceptedAt), operations, { now: acceptedAt, timers: "fire" }).state,
    );
  });

  test("changes by time alone no sooner than six hours after the base, so the tables do not depend on how long a run takes", () => {
    expect(Math.min(...states.map(({ nextDueAt }) => nextDueAt ?? Infinity))).toBeGreaterThanOrEqual(
      BASE + 6 * HOUR_MS,
    );
  });

  test("fills every lifecycle state and every segment, none of them with everybody", () => {
    const named = [
      ...snapshot.lifecycle!.states.map(
        ({ name }) => [name, states.filter((one) => one.lifecycle?.state === name)] as const,
      ),
      ...snapshot.segments.map(({ id }) => [id, states.filter((one) => id in one.segments)] as const),
    ];
    for (const [name, members] of named) {
      expect(members.length, name).toBeGreaterThan(0);
      expect(members.length, name).toBeLessThan(300);
    }
  });
});
