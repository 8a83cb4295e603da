import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { explain, hasMemoryOf, stateBudget, type Model, type TrackOperation } from "../../src/engine/index.js";
import { compileOrder } from "../../src/engine/conditions/compare.js";
import { parseDuration } from "../../src/model/snapshot/duration.js";
import type { OrderOperator, Score } from "../../src/model/snapshot/types.js";
import type { StreamMemory } from "../../src/engine/state/types.js";
import { propertyRuns } from "../support/property-runs.js";
import {
  aggregate,
  count,
  distinct,
  happened,
  healthIs,
  healthOf,
  type JourneyParts,
  modelOf,
  number,
  type Parts,
  per,
  property,
  type Scope,
  seen,
  snapshotOf,
  traitNumber,
} from "./support/builders.js";
import { Run, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Below this limit each occurrence is remembered; from it on only sums are kept. */
const SUMMED_UP = 1_000;

const used = (amount: number, step = MINUTE): TrackOperation[] =>
  Array.from({ length: amount }, (_, i) => seen(i + 1, i * step, "used", { n: i % 2 }));

const scope = fc.constantFrom<Scope>(
  {},
  { within: "1d" },
  { within: "20h" },
  { since: "state" },
  { within: "2d", where: property("n", "lt", 9) },
);
const limit = fc.integer({ min: SUMMED_UP, max: SUMMED_UP + 4 });

/** A segment that depends on a count. */
interface Question {
  parts: (scope: Scope) => Parts;
  isMet: (count: number) => boolean;
}

const compared = fc
  .record({ operator: fc.constantFrom<OrderOperator>("gte", "gte", "gt", "lt", "lte", "eq", "ne"), limit })
  .map(({ operator, limit }): Question => ({
    parts: (scope) => ({ segments: { s: count("used", operator, limit, scope) } }),
    isMet: compileOrder(operator, limit),
  }));
/** The count as a score that a condition reads: highest from the limit on, and 0 again from a higher limit on. */
const scored = limit.map((limit): Question => ({
  parts(scope) {
    const steps: [number, number][] = [limit - 1, limit + 2].map((upTo, i) => [upTo, 100 * i]);
    const score: Score = { kind: "steps", of: number("used", scope), steps, otherwise: 0 };
    return { health: healthOf({ c: score }, { good: 50, bad: 0 }), segments: { s: healthIs("gte", 50) } };
  },
  isMet: (count) => count >= limit && count <= limit + 2,
}));
const draft = fc.record({
  name: fc.constantFrom("used", "used", "used", "used", "used", "used", "move"),
  gap: fc.constantFrom(0, 0, 1, 1, 2, 40),
  late: fc.constantFrom(0, 0, 0, 0, 0, 3, 300),
  times: fc.integer({ min: 1, max: 4 }),
});

/** When the segment is entered and left, by counting the occurrences in the window or since the last move one by one. */
function turnsByCounting(operations: readonly TrackOperation[], scope: Scope, isMet: Question["isMet"], until: number) {
  const within = scope.within === undefined ? Infinity : parseDuration(scope.within);
  const turns: string[] = [];
  const taken: TrackOperation[] = [];
  let moved = { occurredAt: -Infinity, seq: 0 };
  let wasMet = false;
  const look = (at: number): void => {
    const counted = taken.filter(
      ({ occurredAt, seq }) =>
        occurredAt > at - within &&
        (occurredAt > moved.occurredAt || (occurredAt === moved.occurredAt && seq > moved.seq)),
    );
    const met = isMet(counted.length);
    if (met !== wasMet) turns.push(`${met ? "segmentEntered" : "segmentExited"} ${at}`);
    wasMet = met;
  };
  let clock = -Infinity;
  const pass = (to: number): void => {
    const leaving = new Set(taken.map(({ occurredAt }) => occurredAt + within));
    for (const at of [...leaving].sort((a, b) => a - b)) if (at > clock && at <= to) look(at);
    clock = Math.max(clock, to);
  };
  for (const operation of operations) {
    pass(operation.occurredAt); // a late one is evaluated at the clock
    if (operation.event === "used") taken.push(operation);
    // Entering the first state also counts as a move.
    if (scope.since === "state" && (operation.event === "move" || operation.seq === 1)) moved = operation;
    // Only near the limit can the result change.
    if (taken.length > SUMMED_UP - 20 || operation.seq === 1) look(clock);
  }
  pass(until);
  return turns;
}

describe("a count that is compared with a thousand and more", () => {
  it("is exact at every instant, however events are split into calls", { timeout }, () => {
    let turned = 0;
    fc.assert(
      fc.property(
        fc.oneof(compared, scored),
        scope,
        fc.integer({ min: SUMMED_UP - 12, max: SUMMED_UP + 6 }),
        fc.array(draft, { minLength: 10, maxLength: 25 }),
        ({ parts, isMet }, scope, before, drafts) => {
          const earlier = used(before, 30_000);
          let now = earlier.at(-1)!.occurredAt;
          let seq = before;
          const later = drafts.flatMap(({ name, gap, late, times }): TrackOperation[] => {
            now += gap * MINUTE;
            return Array.from({ length: name === "move" ? 1 : times }, () => {
              const occurredAt = name === "move" ? now : Math.max(0, now - late * MINUTE);
              return { ...seen(++seq, occurredAt, name, { n: 2 }), acceptedAt: now };
            });
          });
          const moved = happened("move", { since: "state" });
          const states: Parts["states"] = { here: [["there", moved]], there: [["here", moved]] };
          const model = modelOf({ states, ...parts(scope) });
          const [one, parted] = [new Run(model), new Run(model, 300)];
          one.take([...earlier, ...later]);
          parted.take(earlier);
          for (const operation of later) parted.take([operation]);
          expect(one.state.nextDueAt).toBe(parted.state.nextDueAt);
          const until = now + 3 * DAY;
          for (const run of [one, parted]) run.tick(until);
          expect(one.effects).toEqual(parted.effects);
          const turns = one.effects.flatMap(({ kind, at }) => (kind.startsWith("segment") ? [`${kind} ${at}`] : []));
          expect(turns).toEqual(turnsByCounting([...earlier, ...later], scope, isMet, until));
          turned += turns.length;
        },
      ),
      { numRuns: propertyRuns(25) },
    );
    expect(turned).toBeGreaterThan(25);
  });

  const month = { within: "30d" };
  const sizeOf = (limit: number): number => {
    const run = new Run(modelOf({ segments: { s: count("used", "gte", limit, month) } }));
    run.take(used(3_000));
    return JSON.stringify(run.state).length;
  };

  it("keeps the state small, and its budget too", () => {
    expect(sizeOf(SUMMED_UP - 1)).toBeGreaterThan(10_000);
    for (const limit of [SUMMED_UP, 2_000, 1_000_000]) expect(sizeOf(limit)).toBeLessThan(3_000);
    const [small, large] = [SUMMED_UP - 1, 1_000_000_000].map((limit) => {
      return stateBudget(snapshotOf({ segments: { s: count("used", "gte", limit, month) } })).bytes;
    });
    expect(large).toBeLessThan(0.4 * small!);
  });

  it("is a plain number without a window or a start", () => {
    for (const scope of [{}, { where: property("n", "eq", 1) }]) {
      const model = modelOf({ segments: { s: count("used", "gte", 1_000, scope) } });
      expect(model.registry.aggregates).toEqual([]);
      expect(model.memoryKey).toBe(model.hash);
      const run = new Run(model);
      run.take(used(1_999));
      expect(Object.keys(run.state.segments)).toEqual("where" in scope ? [] : ["s"]);
    }
  });

  it("always has its search remembered, however many searches a model has", () => {
    const windows = Array.from({ length: 40 }, (_, i) => `${1 + i}d`);
    const both = windows.flatMap((within) => [
      [`c${within}`, count("used", "gte", 1_000, { within })],
      [`s${within}`, aggregate("sum", ["used", "n"], "gte", 9, { within })],
    ]);
    const { searched } = modelOf({ segments: Object.fromEntries(both) as Parts["segments"] & {} }).registry;
    expect(searched.filter(({ isRemembered }) => isRemembered).length).toBe(40 + 16);
  });

  it("is shown exactly, not capped", () => {
    const model = modelOf({ segments: { s: count("used", "gte", 1_000, month) } });
    const run = new Run(model);
    run.take(used(1_234));
    expect(JSON.stringify(explain(model, run.state))).toContain("1234");
  });

  describe("whose occurrences an earlier release remembered", () => {
    const last30 = number("order", month);
    const parts = (scope: Scope): Parts => ({
      states: { here: [["there", happened("move", { since: "state" })]], there: [] },
      segments: {
        ever: count("order", "gte", 3),
        s: count("used", "gte", 1_000, scope),
        few: count("used", "gte", 5, { within: "1d" }),
        paid: aggregate("sum", ["order", "n"], "gte", 2, month),
        users: distinct(["used", "user"], "gte", 2, month),
        active: distinct(["used", "user"], "gte", 3, { within: "2d" }),
        grown: { ...per(last30, traitNumber("seats")), operator: "gte", value: 1 },
      },
    });
    const life = (amount: number): TrackOperation[] => [
      ...["order", "order", "move", "order"].map((event, i) => seen(i + 1, i * DAY, event, { n: 1 })),
      ...Array.from({ length: amount }, (_, i) => {
        return seen(i + 5, 5 * DAY + i * 20 * MINUTE, "used", { n: i % 2, user: `u${i % 3}` });
      }),
    ];
    /** A customer as left by a release that remembered occurrences, ten thousand at most. */
    const before = (model: Model, operations: readonly TrackOperation[], key: string): Run => {
      const run = new Run(model, 300);
      run.take(operations);
      const { memory } = run.state;
      const streams = memory.streams.map((stream, i): StreamMemory => {
        const { event, where } = model.registry.streams[i]!;
        const selected = operations.filter((one) => one.event === event && (where?.(one.properties) ?? true));
        const latest = event === "used" ? selected.slice(-10_000) : selected.slice(selected.length - stream.seq.length);
        return {
          count: stream.count,
          occurredAt: latest.map(({ occurredAt }) => occurredAt),
          seq: latest.map(({ seq }) => seq),
        };
      });
      const aggregates = memory.aggregates.filter((_, i) => model.registry.aggregates[i]!.fromStream === null);
      run.state = { ...run.state, memory: { model: key, awaitsEvaluation: false, streams, aggregates } };
      return run;
    };

    it.each<Scope>([
      { within: "14d" },
      { since: "state" },
      { since: "state", within: "14d" },
      { within: "14d", where: property("n", "eq", 1) },
    ])("is counted from the history, and everything else continues: %j", (scope) => {
      const model = modelOf(parts(scope));
      expect(model.memoryKey).toBe(`${model.hash}/ones`);
      for (const amount of [0, 990, 1_500]) {
        const operations = life(amount);
        const upgraded = before(model, operations, `${model.hash}/shared`);
        expect(hasMemoryOf(model, upgraded.state)).toBe(true);
        const run = new Run(model, 300);
        run.take(operations);
        const from = operations.at(-1)!.occurredAt;
        // The first of these does not read the count.
        const more = ["order", "used", "used", "order", "used"].map((event, i) => {
          return seen(10_000 + i, from + (i + 1) * HOUR, event, { n: 1, user: "u1" });
        });
        for (const one of [upgraded, run]) {
          for (const operation of more) one.take([operation]);
          one.tick(from + 10 * DAY);
        }
        expect(viewOfState(upgraded.state)).toEqual(viewOfState(run.state));
        expect(upgraded.effects).toEqual(run.effects);
      }
    });

    it("is recognized by its former memory key, also with counts since the end of a run, but not by an earlier release", () => {
      const start = count("used", "gte", 1_000, { since: "state" });
      const journey: JourneyParts = { start, repeat: true, steps: [["order", happened("order")]] };
      const { hash, memoryKey, formerMemoryKeys } = modelOf({ ...parts(month), journeys: { journey } });
      expect([memoryKey, ...formerMemoryKeys]).toEqual([`${hash}/ones`, `${hash}/runs`]);
      const model = modelOf(parts(month));
      const run = new Run(model);
      run.take(life(10));
      expect(hasMemoryOf(modelOf(parts({ within: "20d" })), run.state)).toBe(false);
      expect([model.hash, `${model.hash}/shared`]).not.toContain(run.state.memory.model);
    });

    it("does not drop other memories whose history was removed", () => {
      const model = modelOf(parts(month));
      const run = before(model, life(1_500), `${model.hash}/shared`);
      expect(Object.keys(run.state.segments)).toContain("ever");
      run.forget(({ event }) => event === "order");
      run.take([seen(10_000, 40 * DAY, "used", { n: 1, user: "u1" })]);
      expect(Object.keys(run.state.segments)).toContain("ever");
    });
  });
});
