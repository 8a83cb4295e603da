import { createHash } from "node:crypto";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { simulateHistory } from "../../../src/demo/simulate/history.js";
import type { SimulatedOperation, SimulatedTrack } from "../../../src/demo/simulate/operations.js";
import { compileProject } from "../../../src/dsl-compiler/index.js";
import { compileModel, evaluate, newCustomer, type CustomerState, type Operation } from "../../../src/engine/index.js";
import { eventDiagnostics, traitDiagnostics } from "../../../src/model/payload.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";

const BASE = Date.UTC(2026, 2, 2, 15);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT = { seed: 1, customers: 500, days: 120, base: BASE };

/** A smaller history, for comparisons. */
const SMALL = { ...DEFAULT, customers: 100 };

const fingerprint = (operations: SimulatedOperation[]) =>
  createHash("sha256").update(JSON.stringify(operations)).digest("hex");
const tracks = (operations: SimulatedOperation[]) =>
  operations.filter((one): one is SimulatedTrack => one.type === "track");

const history = simulateHistory(DEFAULT);

describe("the simulated history", () => {
  test("is determined by the seed and the base", () => {
    expect(fingerprint(simulateHistory(SMALL))).toBe(fingerprint(simulateHistory(SMALL)));
    expect(fingerprint(simulateHistory({ ...SMALL, seed: 2 }))).not.toBe(fingerprint(simulateHistory(SMALL)));
  });

  test("only shifts in time when the base moves by whole weeks", () => {
    const moved = simulateHistory({ ...SMALL, base: BASE + 7 * DAY_MS });
    const relative = (operations: SimulatedOperation[], base: number) =>
      tracks(operations)
        .map(({ customerId, event, timestamp }) => `${customerId} ${event} ${Date.parse(timestamp) - base}`)
        .join();
    expect(relative(moved, BASE + 7 * DAY_MS) === relative(simulateHistory(SMALL), BASE)).toBe(true);
  });

  test("has 500 customers and more than 60,000 events in order, over the 120 days before the base, each with its own key", () => {
    const events = tracks(history);
    expect(new Set(history.map(({ customerId }) => customerId)).size).toBe(500);
    expect(events.length).toBeGreaterThan(60_000);
    const instants = events.map(({ timestamp }) => Date.parse(timestamp));
    expect(instants.every((instant, index) => index === 0 || instants[index - 1]! <= instant)).toBe(true);
    expect(instants[0]).toBeGreaterThanOrEqual(BASE - 120 * DAY_MS);
    expect(instants[0]).toBeLessThan(BASE - 118 * DAY_MS);
    expect(instants.at(-1)).toBeLessThan(BASE);
    const keys = events.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.every((key) => key.length <= 256)).toBe(true);
  });

  test("has no events in the hours after the base's time of day, so that nothing falls due while the demo runs", () => {
    const hours = tracks(history).map(({ timestamp }) => (((Date.parse(timestamp) - BASE) % DAY_MS) + DAY_MS) % DAY_MS);
    expect(Math.min(...new Set(hours))).toBeGreaterThanOrEqual(6.5 * 3_600_000);
  });

  test("starts each customer with traits and the sign-up, except for leads, who only have traits", () => {
    const first = new Map<string, SimulatedOperation[]>();
    for (const operation of history) {
      const known = first.get(operation.customerId) ?? [];
      if (known.length < 2) first.set(operation.customerId, [...known, operation]);
    }
    const leads = [...first.values()].filter((operations) => operations.length === 1);
    expect(leads.length).toBe(10);
    for (const [one, other] of first.values()) {
      expect(one?.type).toBe("identify");
      if (other !== undefined) expect(other).toMatchObject({ type: "track", event: "signed_up" });
    }
  });

  test("has an incident that hits many customers on two days in a row, some of them on both", () => {
    const reports = tracks(history).filter(({ event }) => event === "incident_reported");
    const days = reports.map(({ timestamp }) => Math.floor((Date.parse(timestamp) - BASE) / DAY_MS));
    expect([new Set(days).size, Math.max(...days) - Math.min(...days)]).toEqual([2, 1]);
    const customers = new Set(reports.map(({ customerId }) => customerId));
    expect(customers.size).toBeGreaterThan(100);
    expect(reports.length).toBeGreaterThan(customers.size);
  });

  test("has customers that fall silent for weeks and return", () => {
    const lastUse = new Map<string, number>();
    const returned = new Set<string>();
    for (const { customerId, event, timestamp } of tracks(history)) {
      if (event !== "feature_used") continue;
      const at = Date.parse(timestamp);
      if (at - (lastUse.get(customerId) ?? at) > 16 * DAY_MS) returned.add(customerId);
      lastUse.set(customerId, at);
    }
    expect(returned.size).toBeGreaterThan(20);
  });

  test.each([
    [1, 7],
    [300, 10],
  ])("works for %d customers and %d days", (customers, days) => {
    const operations = simulateHistory({ seed: 7, customers, days, base: BASE });
    expect(new Set(operations.map(({ customerId }) => customerId)).size).toBeLessThanOrEqual(customers);
    expect(operations.length).toBeGreaterThan(0);
  });
});

describe("the simulated history in the model of examples/saas", () => {
  let snapshot: Snapshot;
  let states: CustomerState[];
  beforeAll(async () => {
    const compiled = await compileProject(path.resolve(import.meta.dirname, "../../../examples/saas"));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    ({ snapshot } = compiled);
    const model = compileModel(snapshot, compiled.hash);
    const acceptedAt = BASE + HOUR_MS / 2;
    const customers = new Map<string, Operation[]>();
    for (const [seq, one] of history.entries()) {
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

  test("conforms to its strict schema in every operation", () => {
    expect(snapshot.strictSchema).toBe(true);
    const found = simulateHistory({ ...SMALL, seed: 2 }).flatMap((operation) =>
      operation.type === "identify"
        ? traitDiagnostics(snapshot, operation.traits)
        : eventDiagnostics(snapshot, operation.event, operation.properties),
    );
    expect(found.slice(0, 5)).toEqual([]);
  });

  test("contains every declared event and trait", () => {
    const events = new Set(tracks(history).map(({ event }) => event));
    const traits = new Set(history.flatMap((one) => (one.type === "identify" ? Object.keys(one.traits) : [])));
    expect([...events].sort()).toEqual(Object.keys(snapshot.events).sort());
    expect([...traits].sort()).toEqual(Object.keys(snapshot.traits).sort());
  });

  test("changes by time alone no earlier than six hours after the base, so the tables do not depend on how long a run takes", () => {
    expect(Math.min(...states.map(({ nextDueAt }) => nextDueAt ?? Infinity))).toBeGreaterThanOrEqual(
      BASE + 6 * HOUR_MS,
    );
  });

  test("fills every lifecycle state and every segment, but none with all customers", () => {
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
