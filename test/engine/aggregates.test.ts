import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { explain } from "../../src/engine/index.js";
import type { Explanation } from "../../src/engine/conditions/leaf.js";
import type { Json, SumMemory, TrackOperation } from "../../src/engine/state/types.js";
import type { Condition, EventSelector, NumberAggregate, Scalar, Snapshot } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";
import { weighted } from "./support/arbitrary-conditions.js";
import { aggregate, compile, happened, property, seen, snapshotOf, type Parts } from "./support/builders.js";
import { holds, nextFlip } from "./support/reference/conditions.js";
import { factsOf, measured, type Facts, type Start } from "./support/reference/facts.js";
import { Run, timeout, withHistory } from "./support/runner.js";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const T0 = Date.UTC(2026, 0, 1);
const numRuns = propertyRuns(24);

type Measured = Extract<Condition, { kind: "aggregate" | "distinct" | "latest" | "daysSince" | "sequence" | "count" }>;

/** An event, its minutes from the beginning, and whether the customer's state is saved and time passes after it. */
interface Happening {
  event: "x" | "y" | "move";
  minute: number;
  properties: Record<string, Json>;
  cut: boolean;
  wait: number;
}

const number = weighted(
  [4, fc.integer({ min: -5, max: 12 })],
  [4, fc.integer({ min: -300, max: 1_200 }).map((cents) => cents / 100)],
  [1, fc.constantFrom(0.1, 0.2, 0.3, 1e21, -1e21, 1e-7, 2 ** 60, 1 / 3)],
);

const happening: fc.Arbitrary<Happening> = fc.record({
  event: fc.constantFrom("x" as const, "x" as const, "x" as const, "x" as const, "y" as const, "move" as const),
  // Coarse, so that many events share an instant.
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

/** Spread over some hours, in order but for a few late events. */
const sparse = fc.array(happening, { minLength: 1, maxLength: 40, size: "max" }).map((list) => {
  let now = 0;
  return list.map((one) => {
    if (one.minute > 12) now += one.minute % 9;
    return { ...one, minute: one.minute > 12 ? now : Math.max(0, now - one.minute * 11) };
  });
});

/** More occurrences of one event in a window than are remembered, often with rising or falling numbers; a few are hours late. */
const dense = fc
  .tuple(
    fc.array(happening, { minLength: 60, maxLength: 100, size: "max" }),
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
const windows = ["30m", "2h", "9h"].map((within) => ({ within }));
const scope = fc.constantFrom<{ within?: string; since?: "state" }>({}, ...windows, { since: "state" });
const of = fc.constantFrom({ event: "x" }, tagged("ne", "a"));

/** The common members of all conditions that compare with one of these values. */
const compared = <T>(values: fc.Arbitrary<T>) =>
  fc.record({ of, operator, value: values, scope }).map(({ scope, ...rest }) => ({ ...rest, ...scope }));
const days = fc.record({
  of,
  operator,
  value: fc.integer({ min: 0, max: 3 }),
  which: fc.constantFrom("first", "last"),
});
const few = compared(fc.integer({ min: 0, max: 5 }));

const conditions: Record<string, fc.Arbitrary<Measured>> = Object.fromEntries([
  ...(["sum", "avg", "min", "max"] as const).map((fn) => [
    fn,
    compared(number).map((one) => ({ kind: "aggregate", function: fn, property: "n", ...one })),
  ]),
  ["count", few.map((one) => ({ kind: "count", ...one }))],
  ["distinct", few.map((one) => ({ kind: "distinct", property: "tag", ...one }))],
  ["latest", compared(fc.constantFrom("a", "b", 1)).map((one) => ({ kind: "latest", property: "tag", ...one }))],
  ["daysSince", days.map((one) => ({ kind: "daysSince", ...one }))],
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

/** A segment with a condition, and a lifecycle that cycles with each `move`. */
function inSegment(condition: Condition): Snapshot {
  const moved = happened("move", { since: "state" });
  return snapshotOf({ states: { a: [["b", moved]], b: [["a", moved]] }, segments: { s: condition } });
}

/** A journey whose only step has a condition: it starts with a `move`, and again after its end. */
function inStep(condition: Condition): Snapshot {
  const journey = { start: happened("move"), steps: [["s", condition] as [string, Condition]] };
  return snapshotOf({ journeys: { j: { ...journey, expiresAfter: "6h", repeat: true } } });
}

/** The event x with a given tag, or with any other. */
function tagged(operator: "eq" | "ne", value: Scalar): EventSelector {
  return { event: "x", where: property("tag", operator, value) };
}

/** Sends the happenings as a customer's operations, and calls `check` whenever the state is as of the clock. */
function play(snapshot: Snapshot, list: readonly Happening[], pageSize: number, check: (played: Played) => void): Run {
  const model = compile(snapshot);
  const run = new Run(model, pageSize, { customerId: "c1", createdAt: T0 });
  const checkNow = (): void => {
    const applied = run.evaluated();
    const explanation = withHistory(applied, pageSize, run.requests, (history) =>
      explain(model, run.state, { history }),
    );
    const { lifecycle, evaluatedThrough } = run.state;
    check({ run, explanation, facts: factsOf(snapshot, applied, lifecycle), clock: evaluatedThrough! });
  };
  let batch: TrackOperation[] = [];
  list.forEach(({ event, minute, properties, cut, wait }, i) => {
    batch.push({ ...seen(i + 1, T0 + minute * MINUTE, event, properties), acceptedAt: T0 + 100 * DAY });
    if (!cut && i < list.length - 1) return;
    run.take(batch);
    batch = [];
    checkNow();
    if (wait === 0) return;
    run.tick(run.state.evaluatedThrough! + wait * MINUTE);
    checkNow();
  });
  return run;
}

interface Played {
  run: Run;
  explanation: ReturnType<typeof explain>;
  facts: Facts;
  clock: number;
}

/** Expects the result of a recomputation over everything; returns whether the condition holds, and when that changes. */
function expectExplained(explanation: unknown, condition: Measured, { facts, clock }: Played, start: Start = "ever") {
  const { met, actual, flipsAt } = explanation as Explanation;
  const isMet = holds(facts, { condition, start }, clock);
  const due = nextFlip(facts, [{ condition, start }], clock);
  expect(met).toBe(isMet);
  expect(flipsAt).toBe(due === Infinity ? null : new Date(due).toISOString());
  const sequence = isMet ? "happened" : null;
  const expected = condition.kind === "sequence" ? sequence : (measured(facts, condition, clock, start) ?? null);
  if (typeof actual === "string" && actual.endsWith(" or more")) {
    expect(expected).toBeGreaterThanOrEqual(parseInt(actual));
  } else if (typeof expected !== "string" || expected.length < 70) {
    expect(actual).toEqual(expected);
  }
  return { isMet, due };
}

/** Aggregates that need the history when a window is full: of falling numbers, or of rising ones for `min`. */
const readsHistory = new Set(["sum", "avg", "min", "max"]);

function fullWindow(name: NumberAggregate): [Measured, Happening[], number] {
  const numbers = Array.from({ length: 60 }, (_, i) => (name === "min" ? i : 60 - i));
  const list = numbers.map((n, i): Happening => {
    return { event: "x", minute: i, properties: { n }, cut: false, wait: i === 59 ? 600 : 0 };
  });
  return [aggregate(name, ["x", "n"], "gte", 30, { within: "2h" }), list, 7];
}

describe.each(Object.entries(conditions))("%s", (name, arbitrary) => {
  it("equals a recomputation over everything: ever, in a window and since the lifecycle state", { timeout }, () => {
    let requests = 0;
    fc.assert(
      fc.property(arbitrary, happenings, fc.integer({ min: 1, max: 9 }), (condition, list, pageSize) => {
        const run = play(inSegment(condition), list, pageSize, (played) => {
          const { state } = played.run;
          const { isMet, due } = expectExplained(played.explanation.segments[0]!["condition"], condition, played);
          expect(Object.hasOwn(state.segments, "s")).toBe(isMet);
          expect(state.timerDueAt).toBe(due === Infinity ? null : due);
        });
        requests += run.requests.length;
      }),
      { numRuns, examples: readsHistory.has(name) ? [fullWindow(name as NumberAggregate)] : [] },
    );
    if (readsHistory.has(name)) expect(requests).toBeGreaterThan(0);
  });

  it("counts from the journey's start in a step, also within a window", { timeout }, () => {
    let checked = 0;
    fc.assert(
      fc.property(arbitrary, happenings, fc.integer({ min: 1, max: 9 }), (given, list, pageSize) => {
        const { since: _since, ...condition } = given as Measured & { since?: string };
        play(inStep(condition), list, pageSize, (played) => {
          const active = played.run.state.journeys["j"];
          if (active?.status !== "active") return;
          checked++;
          const [step] = played.explanation.journeys[0]!["steps"] as { condition: unknown }[];
          const start = { at: active.startedAt, by: active.startedBy };
          expect(expectExplained(step!.condition, condition, played, start).isMet).toBe(false);
        });
      }),
      { numRuns },
    );
    expect(checked).toBeGreaterThan(0);
  });
});

describe("a sum that was not read while its window moved", () => {
  const sum = (value: number) => aggregate("sum", ["x", "n"], "gte", value, { within: "1h" });
  const move = happened("move", { since: "state" });

  it("includes a late event when it reads from the history", () => {
    // oxfmt-ignore
    const states: Parts["states"] = {
      here: [["rich", sum(1_000)], ["idle", move]],
      idle: [["back", move]],
      back: [["seen", sum(1)]],
      rich: "terminal",
      seen: "terminal",
    };
    const model = compile(snapshotOf({ states }));
    const operations = [
      ...Array.from({ length: 40 }, (_, i) => seen(i + 1, 0, "x", { n: 1 })),
      seen(41, MINUTE, "move"),
      seen(42, 60 * MINUTE, "x", { n: 1 }),
      { ...seen(43, 0, "x", { n: 1 }), acceptedAt: 61 * MINUTE },
      seen(44, 61 * MINUTE, "move"),
    ];
    for (const pageSize of [3, 50]) {
      const run = new Run(model, pageSize);
      for (const operation of operations) run.take([operation]);
      expect(run.state.lifecycle).toMatchObject({ state: "seen" });
    }
  });

  it("reads only the occurrences that have left the window", () => {
    const model = compile(snapshotOf({ segments: { s: { ...sum(1), value: 1_000 } } }));
    const run = new Run(model, 10);
    run.take(Array.from({ length: 300 }, (_, i) => seen(i + 1, (i * MINUTE) / 10, "x", { n: 1 })));
    // A hundred have left, of which 32 were remembered.
    run.take([seen(301, 70 * MINUTE, "x", { n: 1 })]);
    expect(run.requests.length).toBe(7);
  });

  it("drops what was removed from the history, though more than a page is retained", () => {
    const window = 300;
    const given = aggregate("sum", ["x", "n"], "gte", 450, { within: "5h" });
    const model = compile(snapshotOf({ segments: { some: { ...given, value: 100 }, many: given } }));
    const run = new Run(model, 25);
    for (let minute = 0; minute < 3 * window; minute++) {
      run.forget(({ occurredAt }) => occurredAt < (minute - 90) * MINUTE);
      run.take([seen(minute + 1, minute * MINUTE, "x", { n: 1 })]);
      expect((run.state.memory.aggregates[0] as SumMemory).count).toBeLessThanOrEqual(window);
    }
    expect(Object.keys(run.state.segments)).toEqual(["some"]);
  });
});
