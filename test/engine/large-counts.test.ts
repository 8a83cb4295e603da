import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { explain, hasMemoryOf, stateBudget, type Effect, type TrackOperation } from "../../src/engine/index.js";
import type { Measure, OrderOperator, Score } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";
import {
  aggregate,
  compile,
  count,
  happened,
  healthIs,
  healthOf,
  modelOf,
  number,
  property,
  type Scope,
  seen,
  snapshotOf,
} from "./support/builders.js";
import { Run, timeout } from "./support/runner.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** So many are counted by remembering each of them; from there on they are summed up. */
const SUMMED_UP = 1_000;

const used = (amount: number, step = MINUTE): TrackOperation[] =>
  Array.from({ length: amount }, (_, i) => seen(i + 1, i * step, "used", { n: i % 2 }));

const scope = fc.constantFrom<Scope>(
  {},
  { within: "1d" },
  { within: "20h" },
  { since: "state" },
  { since: "state", within: "1d" },
  { within: "2d", where: property("n", "lt", 9) },
);
const limit = fc.integer({ min: SUMMED_UP, max: SUMMED_UP + 4 });
const operator = fc.constantFrom<OrderOperator>("gte", "gte", "gt", "lt", "lte");

/** A score of as many points as a number up to each limit has, and of the last ones beyond. */
const stepsOf = (of: Measure, points: readonly [limit: number, points: number][], otherwise: number): Score => {
  return { kind: "steps", of, steps: points.map(([limit, some]) => [limit, some]), otherwise };
};

/** What as many as there ever are here do not reach: points that come again there have every occurrence remembered. */
const NEVER_REACHED = 9_000;

const draft = fc.record({
  name: fc.constantFrom("used", "used", "used", "used", "used", "used", "move"),
  gap: fc.constantFrom(0, 0, 1, 1, 2, 40),
  late: fc.constantFrom(0, 0, 0, 0, 0, 3, 300),
  times: fc.integer({ min: 1, max: 4 }),
});

/** When a segment was entered and left. */
const turnsOf = (effects: readonly Effect[], id: string): string[] =>
  effects.flatMap((one) => {
    const isTurn = (one.kind === "segmentEntered" || one.kind === "segmentExited") && one.segment === id;
    return isTurn ? [`${one.kind} ${one.at}`] : [];
  });

/** That the same comes of counts that are summed up and of occurrences that are remembered. */
function expectTwins(effects: readonly Effect[]): void {
  expect(turnsOf(effects, "summedUp")).toEqual(turnsOf(effects, "remembered"));
  for (const one of effects) if (one.kind === "health") expect(one.components.summedUp).toBe(one.components.remembered);
}

describe("a count that is compared with a thousand and more", () => {
  it("is exact at every instant, in whatever calls events come", { timeout }, () => {
    let flips = 0;
    fc.assert(
      fc.property(
        fc.record({ scope, limit, operator }),
        scope,
        fc.integer({ min: SUMMED_UP - 12, max: SUMMED_UP + 6 }),
        fc.array(draft, { minLength: 10, maxLength: 25 }),
        ({ scope, limit, operator }, another, before, drafts) => {
          const moved = happened("move", { since: "state" });
          const of = number("used", scope);
          const [below, above] = operator === "gte" || operator === "gt" ? [0, 100] : [100, 0];
          const last = operator === "gte" || operator === "lt" ? limit - 1 : limit;
          const points: [number, number][] = [
            [998, 0],
            [1_003, 60],
          ];
          const scores = {
            summedUp: stepsOf(number("used", another), points, 100),
            remembered: stepsOf(number("used", another), [...points, [NEVER_REACHED, 100]], 0),
            compared: stepsOf(of, [[last, below], [NEVER_REACHED, above]], below), // prettier-ignore
          };
          const given = snapshotOf({
            states: { here: [["there", moved]], there: [["here", moved]] },
            segments: { summedUp: count("used", operator, limit, scope), remembered: healthIs("gte", 50, "compared") },
            health: healthOf(scores, { good: 50, bad: 0 }),
          });
          const earlier = used(before, 30_000);
          let now = earlier.at(-1)!.occurredAt;
          const operations = drafts.flatMap(({ name, gap, late, times }): TrackOperation[] => {
            now += gap * MINUTE;
            return Array.from({ length: name === "move" ? 1 : times }, () => {
              return { ...seen(0, Math.max(0, now - late * MINUTE), name, { n: 2 }), acceptedAt: now };
            });
          });
          operations.forEach((one, i) => Object.assign(one, seen(before + i + 1, one.occurredAt, one.event, one.properties), { acceptedAt: one.acceptedAt })); // prettier-ignore
          const model = compile(given);
          const [one, parted] = [new Run(model), new Run(model, 300)];
          one.take([...earlier, ...operations]);
          parted.take(earlier);
          for (const operation of operations) parted.take([operation]);
          expect(one.state.nextDueAt).toBe(parted.state.nextDueAt);
          for (const run of [one, parted]) run.tick(now + 3 * DAY);
          expect(one.effects).toEqual(parted.effects);
          expectTwins(one.effects);
          flips += turnsOf(one.effects, "summedUp").length;
        },
      ),
      { numRuns: propertyRuns(60) },
    );
    expect(flips).toBeGreaterThan(60);
  });

  const month = { within: "30d" };
  const sizeOf = (limit: number): number => {
    const run = new Run(modelOf({ segments: { s: count("used", "gte", limit, month) } }));
    run.take(used(3_000));
    return JSON.stringify(run.state).length;
  };

  it("leaves a state as small as any, and small it is said to be", () => {
    expect(sizeOf(SUMMED_UP - 1)).toBeGreaterThan(10_000);
    for (const limit of [SUMMED_UP, 2_000, 1_000_000]) expect(sizeOf(limit)).toBeLessThan(3_000);
    const [small, large] = [SUMMED_UP - 1, 1_000_000_000].map((limit) => {
      return stateBudget(snapshotOf({ segments: { s: count("used", "gte", limit, month) } })).bytes;
    });
    expect(large).toBeLessThan(0.4 * small!);
  });

  it("is a bare number without a window and a start", () => {
    for (const scope of [{}, { where: property("n", "eq", 1) }]) {
      const model = modelOf({ segments: { s: count("used", "gte", 1_000, scope) } });
      expect(model.registry.aggregates).toEqual([]);
      const run = new Run(model);
      run.take(used(1_999));
      expect(Object.keys(run.state.segments)).toEqual("where" in scope ? [] : ["s"]);
    }
  });

  it("has its search remembered, however many searches a model has", () => {
    const windows = Array.from({ length: 40 }, (_, i) => `${1 + i}d`);
    const counts = windows.map((within) => [`c${within}`, count("used", "gte", 1_000, { within })] as const);
    const sums = windows.map(
      (within) => [`s${within}`, aggregate("sum", ["used", "n"], "gte", 9, { within })] as const,
    );
    const { searched } = modelOf({ segments: Object.fromEntries([...counts, ...sums]) }).registry;
    expect(searched.filter(({ isRemembered }) => isRemembered).length).toBe(40 + 16);
  });

  it("is shown as it is, and not as a number that stopped growing", () => {
    const given = { segments: { s: count("used", "gte", 1_000, month) } };
    const model = modelOf(given);
    const run = new Run(model);
    run.take(used(1_234));
    expect(JSON.stringify(explain(model, run.state))).toContain("1234");
  });

  it("does not take what was remembered before counts were summed up for what it remembers", () => {
    const model = modelOf({ segments: { s: count("used", "gte", 1_000, month) } });
    const run = new Run(model);
    run.take(used(10));
    const { state } = run;
    expect(hasMemoryOf(model, state)).toBe(true);
    for (const key of [model.hash, `${model.hash}/shared`, `${model.hash}/runs`]) {
      expect(hasMemoryOf(model, { ...state, memory: { ...state.memory, model: key } })).toBe(false);
    }
  });
});
