import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compileModel, evaluate, explain, newCustomer } from "../../src/engine/index.js";
import type { Explanation } from "../../src/engine/conditions/leaf.js";
import { HistoryNeeded } from "../../src/engine/state/history.js";
import type {
  CustomerState,
  HistoryEvent,
  HistoryRequest,
  HistorySource,
  Json,
  Order,
  TrackOperation,
} from "../../src/engine/state/types.js";
import { hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { parseDuration } from "../../src/model/snapshot/duration.js";
import {
  EMPTY_SNAPSHOT,
  type Condition,
  type EventSelector,
  type Scalar,
  type Snapshot,
} from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 0, 1);
const numRuns = propertyRuns(40);

type Measured = Extract<Condition, { kind: "aggregate" | "distinct" | "latest" | "daysSince" | "sequence" | "count" }>;

/** What happens: an event, minutes from the beginning, and whether the customer's state is saved and time is let pass after it. */
interface Happening {
  event: "x" | "y" | "move";
  minute: number;
  properties: Record<string, Json>;
  cut: boolean;
  wait: number;
}

const number = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -5, max: 12 }) },
  { weight: 4, arbitrary: fc.integer({ min: -300, max: 1_200 }).map((cents) => cents / 100) },
  { weight: 1, arbitrary: fc.constantFrom(0.1, 0.2, 0.3, 1e21, -1e21, 1e-7, 2 ** 60, 1 / 3) },
);

const happening: fc.Arbitrary<Happening> = fc.record({
  event: fc.constantFrom("x" as const, "x" as const, "x" as const, "x" as const, "y" as const, "move" as const),
  // Coarse, so that much happens at one instant.
  minute: fc.nat({ max: 40 }),
  properties: fc.record(
    {
      n: fc.oneof(number, fc.constant("no number")),
      tag: fc.constantFrom<Json>("a", "b", "c", "d", 1, true, null, "l".repeat(70)),
    },
    { requiredKeys: [] },
  ),
  cut: fc.boolean(),
  wait: fc.constantFrom(0, 0, 0, 1, 7, 90, 3_000),
});

/** In order, except for a few that are late; spread over some hours. */
const sparse = fc.array(happening, { minLength: 1, maxLength: 40, size: "max" }).map((list) => {
  let now = 0;
  return list.map((one) => {
    if (one.minute > 12) now += one.minute % 9;
    return { ...one, minute: one.minute > 12 ? now : Math.max(0, now - one.minute * 11) };
  });
});

/** More of one event in a window than is remembered, often with rising or falling numbers; some hours late here and there. */
const dense = fc
  .tuple(
    fc.array(happening, { minLength: 60, maxLength: 130, size: "max" }),
    fc.constantFrom(-3, 0, 3),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([list, slope, pace]) => {
    let now = 0;
    return list.map((one, i): Happening => {
      const isLate = one.minute === 1;
      if (!isLate) now += one.minute % pace;
      const n = slope === 0 ? (one.properties["n"] ?? 1) : slope * i + (one.minute % 7);
      return {
        ...one,
        event: one.event === "move" && one.minute % 8 > 0 ? "x" : one.event,
        minute: isLate ? Math.max(0, now - (i % 90)) : now,
        properties: { ...one.properties, n },
        wait: one.minute % 5 === 0 ? Math.min(one.wait, 25) : 0,
      };
    });
  });

const happenings = fc.oneof(sparse, dense);

const operator = fc.constantFrom("eq", "ne", "lt", "lte", "gt", "gte" as const);
const scope = fc.constantFrom<{ within?: string; since?: "state" }>(
  {},
  { within: "30m" },
  { within: "2h" },
  { within: "9h" },
  { since: "state" },
);
const of = fc.constantFrom({ event: "x" }, tagged("ne", "a"));

const conditions: Record<string, fc.Arbitrary<Measured>> = Object.fromEntries([
  ...(["sum", "avg", "min", "max"] as const).map((fn) => [
    fn,
    fc.tuple(of, operator, number, scope).map(([of, operator, value, scope]) => ({
      kind: "aggregate",
      function: fn,
      of,
      property: "n",
      operator,
      value,
      ...scope,
    })),
  ]),
  ...(["count", "distinct"] as const).map((kind) => [
    kind,
    fc
      .tuple(of, operator, fc.integer({ min: 0, max: 5 }), scope)
      .map(([of, operator, value, scope]) =>
        kind === "count"
          ? { kind, of, operator, value, ...scope }
          : { kind, of, property: "tag", operator, value, ...scope },
      ),
  ]),
  [
    "latest",
    fc
      .tuple(of, operator, fc.constantFrom("a", "b", 1), scope)
      .map(([of, operator, value, scope]) => ({ kind: "latest", of, property: "tag", operator, value, ...scope })),
  ],
  [
    "daysSince",
    fc
      .tuple(of, operator, fc.integer({ min: 0, max: 3 }), fc.constantFrom("first", "last" as const))
      .map(([of, operator, value, which]) => ({ kind: "daysSince", which, of, operator, value })),
  ],
  [
    "sequence",
    fc
      .record({
        first: fc.constantFrom(tagged("eq", true), tagged("ne", "a")),
        then: fc.constantFrom(tagged("eq", 1), { event: "y" }),
        within: fc.constantFrom("1m", "5m", "1h"),
        scope: fc.constantFrom({}, { since: "state" as const }),
      })
      .map(({ first, then, within, scope }) => ({ kind: "sequence", first, then, within, ...scope })),
  ],
]);

const moved: Condition = { kind: "count", of: { event: "move" }, operator: "gte", value: 1, since: "state" };

/** A segment by a condition, and a lifecycle that goes round with each `move`. */
function inSegment(condition: Condition): Snapshot {
  return {
    ...EMPTY_SNAPSHOT,
    lifecycle: {
      initial: "a",
      states: [
        { name: "a", transitions: [{ to: "b", when: moved }] },
        { name: "b", transitions: [{ to: "a", when: moved }] },
      ],
    },
    segments: [{ id: "s", when: condition }],
  };
}

/** A journey whose only step has a condition: it starts with a `move`, and again after its end. */
function inStep(condition: Condition): Snapshot {
  return {
    ...EMPTY_SNAPSHOT,
    journeys: [
      {
        id: "j",
        start: { kind: "count", of: { event: "move" }, operator: "gte", value: 1 },
        steps: [{ id: "s", when: condition }],
        expiresAfter: "6h",
        repeat: true,
      },
    ],
  };
}

/** The event x with one tag, or with any but one. */
function tagged(operator: "eq" | "ne", value: Scalar): EventSelector {
  return { event: "x", where: { kind: "compare", property: "tag", operator, value } };
}

interface Boundary {
  at: number;
  by: Order | null;
}

/** The condition evaluated afresh over all that happened. */
class Naive {
  constructor(
    private readonly condition: Measured,
    private readonly happened: readonly TrackOperation[],
    private readonly boundary: Boundary | null,
  ) {}

  holds(t: number): boolean {
    const { condition } = this;
    if (condition.kind === "sequence") return this.hasSequence();
    return compare(this.actual(t), condition.operator, condition.value);
  }

  actual(t: number): Json | undefined {
    const { condition } = this;
    if (condition.kind === "sequence") return this.hasSequence() ? "happened" : undefined;
    const all = this.selected(condition.of);
    if (condition.kind === "daysSince") {
      const last = all.filter((one) => this.counts(one)).at(-1);
      const one = condition.which === "first" ? all[0] : last;
      return one && Math.floor((t - one.occurredAt) / DAY);
    }
    const within = condition.within === undefined ? Infinity : parseDuration(condition.within);
    const counted = all.filter((one) => one.occurredAt > t - within && this.counts(one));
    if (condition.kind === "count") return counted.length;
    const values = counted
      .map(({ properties }) => properties[condition.property])
      .filter((value) => value !== undefined && value !== null);
    if (condition.kind === "distinct") return new Set(values).size;
    if (condition.kind === "latest") return values.at(-1);
    const numbers = values.filter((value) => typeof value === "number");
    if (condition.function === "sum") return exactSum(numbers);
    if (numbers.length === 0) return undefined;
    if (condition.function === "avg") return exactSum(numbers) / numbers.length;
    return condition.function === "min" ? Math.min(...numbers) : Math.max(...numbers);
  }

  /** The earliest instant after the clock at which it flips. */
  flipsAt(clock: number): string | null {
    const { condition, happened } = this;
    let lengths: number[] = [];
    if (condition.kind === "daysSince") lengths = [0, 1, 2, 3, 4, 5].map((days) => days * DAY);
    else if (condition.kind !== "sequence" && condition.within !== undefined)
      lengths = [parseDuration(condition.within)];
    const instants = happened.flatMap(({ occurredAt }) => lengths.map((length) => occurredAt + length));
    const present = this.holds(clock);
    const flip = instants
      .filter((instant) => instant > clock)
      .sort((a, b) => a - b)
      .find((instant) => this.holds(instant) !== present);
    return flip === undefined ? null : new Date(flip).toISOString();
  }

  private selected({ event, where }: EventSelector): TrackOperation[] {
    return this.happened.filter((one) => {
      if (one.event !== event || where?.kind !== "compare") return one.event === event;
      return compare(one.properties["tag"], where.operator, where.value);
    });
  }

  private counts({ occurredAt, seq }: Order): boolean {
    const { boundary } = this;
    if (boundary === null) return true;
    if (occurredAt < boundary.at) return false;
    const { by } = boundary;
    return by === null || occurredAt > by.occurredAt || (occurredAt === by.occurredAt && seq > by.seq);
  }

  private hasSequence(): boolean {
    const { condition } = this;
    if (condition.kind !== "sequence") return false;
    const thens = this.selected(condition.then);
    return this.selected(condition.first)
      .filter((one) => this.counts(one))
      .some((a) => thens.some((b) => isAfter(b, a) && b.occurredAt - a.occurredAt < parseDuration(condition.within)));
  }
}

/** A customer whose state is stored as text between calls, and whose history comes page by page, each asked for first. */
class Customer {
  state: CustomerState = newCustomer("c1", T0);
  readonly happened: TrackOperation[] = [];
  pagesRead = 0;
  private readonly model;

  constructor(
    snapshot: Snapshot,
    private readonly pageSize: number,
  ) {
    this.model = compileModel(snapshot, hashSnapshot(snapshot));
  }

  take(operations: readonly TrackOperation[]): void {
    const { state } = this.withHistory((history) =>
      evaluate(this.model, this.state, operations, { now: 0, timers: "hold", history }),
    );
    this.store(state);
    this.happened.push(...operations);
    this.happened.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  }

  wait(until: number): void {
    this.store(
      this.withHistory((history) => evaluate(this.model, this.state, [], { now: until, timers: "fire", history }))
        .state,
    );
  }

  explain(): ReturnType<typeof explain> {
    return this.withHistory((history) => explain(this.model, this.state, { history }));
  }

  private store(state: CustomerState): void {
    this.state = freeze(JSON.parse(JSON.stringify(state)) as CustomerState);
  }

  private withHistory<T>(call: (history: HistorySource) => T): T {
    const asked = new Set<string>();
    for (;;) {
      try {
        return call((request) => (asked.has(JSON.stringify(request)) ? this.page(request) : undefined));
      } catch (error) {
        if (!(error instanceof HistoryNeeded)) throw error;
        for (const request of error.requests) asked.add(JSON.stringify(request));
      }
    }
  }

  private page({ event, after, until }: HistoryRequest): { events: HistoryEvent[]; complete: boolean } {
    this.pagesRead++;
    const events = this.happened.filter(
      (one) => one.event === event && isAfter(one, after) && (until === null || !isAfter(one, until)),
    );
    return { events: events.slice(0, this.pageSize), complete: events.length <= this.pageSize };
  }
}

function operationsOf(list: readonly Happening[]): { operation: TrackOperation; cut: boolean; wait: number }[] {
  return list.map(({ event, minute, properties, cut, wait }, i) => ({
    operation: {
      kind: "track",
      seq: i + 1,
      eventId: `e${i + 1}`,
      event,
      properties,
      occurredAt: T0 + minute * MINUTE,
      acceptedAt: T0 + 100 * DAY,
    },
    cut,
    wait,
  }));
}

/** Calls a check whenever the customer's state is as of its clock. */
function play(customer: Customer, list: readonly Happening[], check: () => void): void {
  let batch: TrackOperation[] = [];
  const steps = operationsOf(list);
  steps.forEach(({ operation, cut, wait }, i) => {
    batch.push(operation);
    if (!cut && i < steps.length - 1) return;
    customer.take(batch);
    batch = [];
    check();
    if (wait === 0) return;
    customer.wait(customer.state.evaluatedThrough! + wait * MINUTE);
    check();
  });
}

function expectAsNaive(explanation: Explanation, naive: Naive, clock: number): void {
  const actual = naive.actual(clock) ?? null;
  const found = explanation.actual;
  expect(explanation.met).toBe(naive.holds(clock));
  if (typeof found === "string" && found.endsWith(" or more")) {
    expect(actual).toBeGreaterThanOrEqual(parseInt(found));
  } else if (typeof actual !== "string" || actual.length < 70) {
    expect(found).toEqual(actual);
  }
  expect(explanation.flipsAt).toBe(naive.flipsAt(clock));
}

/** What cannot be answered from what is remembered alone, where a window holds enough: numbers that fall, for `min` that rise. */
const readsHistory = new Set(["sum", "avg", "min", "max"]);

function fullWindow(name: string): [Measured, Happening[], number] {
  const numbers = Array.from({ length: 60 }, (_, i) => (name === "min" ? i : 60 - i));
  const list = numbers.map((n, i): Happening => {
    return { event: "x", minute: i, properties: { n }, cut: false, wait: i === 59 ? 600 : 0 };
  });
  const condition = { kind: "aggregate", of: { event: "x" }, property: "n", operator: "gte", value: 30, within: "2h" };
  return [{ ...condition, function: name } as Measured, list, 7];
}

describe.each(Object.entries(conditions))("%s", (name, arbitrary) => {
  it("is what a recomputation over everything says, ever, in a window and since the lifecycle state", () => {
    let pagesRead = 0;
    fc.assert(
      fc.property(arbitrary, happenings, fc.integer({ min: 1, max: 9 }), (condition, list, pageSize) => {
        const customer = new Customer(inSegment(condition), pageSize);
        play(customer, list, () => {
          const { evaluatedThrough, lifecycle, segments, timerDueAt } = customer.state;
          const boundary =
            "since" in condition && condition.since === "state"
              ? { at: lifecycle!.enteredAt, by: lifecycle!.cause }
              : null;
          const naive = new Naive(condition, customer.happened, boundary);
          expect(Object.hasOwn(segments, "s")).toBe(naive.holds(evaluatedThrough!));
          const due = naive.flipsAt(evaluatedThrough!);
          expect(timerDueAt).toBe(due === null ? null : Date.parse(due));
          const explanation = customer.explain().segments[0]!["condition"] as unknown as Explanation;
          expectAsNaive(explanation, naive, evaluatedThrough!);
        });
        pagesRead += customer.pagesRead;
      }),
      { numRuns, examples: readsHistory.has(name) ? [fullWindow(name)] : [] },
    );
    if (readsHistory.has(name)) expect(pagesRead).toBeGreaterThan(0);
  });

  it("counts since the start in a journey's step, within its window too", () => {
    let checked = 0;
    fc.assert(
      fc.property(arbitrary, happenings, fc.integer({ min: 1, max: 9 }), (given, list, pageSize) => {
        const { since: _since, ...rest } = given as Measured & { since?: string };
        const condition = rest;
        const customer = new Customer(inStep(condition), pageSize);
        play(customer, list, () => {
          const { evaluatedThrough, journeys } = customer.state;
          const run = journeys["j"];
          if (run?.status !== "active") return;
          checked++;
          const naive = new Naive(condition, customer.happened, { at: run.startedAt, by: run.startedBy });
          const steps = customer.explain().journeys[0]!["steps"] as { condition: unknown }[];
          expect(naive.holds(evaluatedThrough!)).toBe(false);
          expectAsNaive(steps[0]!.condition as Explanation, naive, evaluatedThrough!);
        });
      }),
      { numRuns },
    );
    expect(checked).toBeGreaterThan(0);
  });
});

function compare(actual: Json | undefined, operator: string, expected: unknown): boolean {
  if (operator === "eq") return actual === expected;
  if (operator === "ne") return actual !== expected;
  if (typeof actual !== "number" || typeof expected !== "number") return false;
  if (operator === "lt") return actual < expected;
  if (operator === "lte") return actual <= expected;
  return operator === "gt" ? actual > expected : actual >= expected;
}

function exactSum(values: readonly number[]): number {
  const SCALE = 40;
  const units = values.map((value) => {
    const [mantissa, exponent = "0"] = String(value).split("e") as [string, string?];
    const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
    return BigInt(whole + fraction) * 10n ** BigInt(SCALE + Number(exponent) - fraction.length);
  });
  return Number(`${units.reduce((sum, one) => sum + one, 0n)}e-${SCALE}`);
}

function isAfter(a: Order, b: Order): boolean {
  return a.occurredAt > b.occurredAt || (a.occurredAt === b.occurredAt && a.seq > b.seq);
}

/** Makes a change of what was handed in an error. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
