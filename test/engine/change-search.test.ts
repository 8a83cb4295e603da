import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Operation, TrackOperation } from "../../src/engine/index.js";
import type { SumMemory } from "../../src/engine/state/types.js";
import type { Condition, Measure, OrderOperator, Score, Snapshot } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";
import {
  aggregate,
  compared,
  compile,
  happened,
  healthIs,
  healthOf,
  minus,
  number,
  per,
  property,
  seen,
  snapshotOf,
  summed,
  traitNumber,
} from "./support/builders.js";
import { expectEqual } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { Run, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A customer whose searches are remembered between calls, and one whose searches start anew in every call. */
class Pair {
  readonly #model;
  readonly remembering: Run;
  readonly forgetful: Run;
  /** The number of operations after which a search was remembered. */
  remembered = 0;

  constructor(snapshot: Snapshot, pageSize = 50) {
    this.#model = compile(snapshot);
    this.remembering = new Run(this.#model, pageSize);
    this.forgetful = new Run(this.#model, pageSize);
  }

  take(operation: Operation): void {
    this.#forget();
    for (const run of [this.remembering, this.forgetful]) run.take([operation]);
    this.#expectAlike();
    if (this.remembering.state.memory.searches !== undefined) this.remembered++;
  }

  tick(now: number): void {
    this.#forget();
    for (const run of [this.remembering, this.forgetful]) run.tick(now);
    this.#expectAlike();
  }

  #forget(): void {
    const { searches: _, ...memory } = this.forgetful.state.memory;
    this.forgetful.state = { ...this.forgetful.state, memory };
  }

  #expectAlike(): void {
    expect(viewOfState(this.remembering.state)).toEqual(viewOfState(this.forgetful.state));
    expect(this.remembering.effects).toEqual(this.forgetful.effects);
  }
}

type Parts = Parameters<typeof snapshotOf>[0];

/** A segment with this condition. */
const having = (when: Condition): Parts => ({ segments: { s: when } });

const scope = fc
  .record({ within: fc.constantFrom("2h", "6h"), isOfState: fc.constantFrom(false, false, true) })
  .map(({ within, isOfState }) => ({ within, ...(isOfState && { since: "state" as const }) }));
const amount = fc
  .record({
    path: fc.constantFrom<Parameters<typeof number>[0]>("a", "b", ["a", "x"], ["a", "x"], ["b", "x"]),
    scope,
    previous: fc.constantFrom(false, false, false, true),
  })
  .map(({ path, scope, previous }): Measure => number(path, { ...scope, ...(previous && { previous }) }));
const ofNumber = fc
  .record({ name: fc.constantFrom("sum" as const, "avg" as const, "min" as const, "max" as const), scope })
  .map(({ name, scope }): Measure => ({
    kind: "aggregate",
    function: name,
    of: { event: "a" },
    property: "x",
    ...scope,
  }));
const distinct = scope.map((given): Measure => ({ kind: "distinct", of: { event: "a" }, property: "x", ...given }));
const part = fc.oneof({ arbitrary: amount, weight: 3 }, ofNumber, distinct);
const divisor = fc.oneof({ arbitrary: part, weight: 2 }, fc.constant(traitNumber("seats")));
const moving: fc.Arbitrary<Measure> = fc.oneof(
  { arbitrary: ofNumber, weight: 2 },
  { arbitrary: fc.tuple(part, divisor).map(([of, by]) => per(of, by)), weight: 2 },
  fc.tuple(part, part).map(([of, less]) => minus(of, less)),
);

const operator = fc.constantFrom<OrderOperator>("lt", "lte", "gt", "gte", "eq", "ne");

/** A reader of a number: a comparison, or a score that a condition reads. */
const reader: fc.Arbitrary<(of: Measure) => Parts> = fc.oneof(
  {
    arbitrary: fc
      .record({ operator, value: fc.constantFrom(0, 0.5, 1, 2, 20, 60, 200) })
      .map((limit) => (of: Measure): Parts => ({ segments: { s: { ...of, ...limit } } })),
    weight: 2,
  },
  fc
    .constantFrom<(of: Measure) => Score>(
      (of) => ({ kind: "scale", of, from: 0, to: 40 }),
      (of) => ({ kind: "scale", of, from: 60, to: 0 }),
      (of) => steps(of, 10, 50, 90),
      (of) => steps(of, 50, 0, 50),
    )
    .map((score) => (of: Measure): Parts => {
      const health = healthOf({ c: score(of) }, { good: 50, bad: 0 });
      return { health, segments: { s: healthIs("gte", 50) } };
    }),
);

const LIMITS = [5, 60] as const;
const steps = (of: Measure, low: number, middle: number, otherwise: number): Score => {
  return { kind: "steps", of, steps: [low, middle].map((score, i) => [LIMITS[i]!, score]), otherwise };
};

/** A model with a lifecycle that cycles with each `move`, and one more number whose changes are searched for. */
function modelOf({ segments, ...parts }: Parts): Snapshot {
  const moved = happened("move", { since: "state" });
  const other = aggregate("sum", ["a", "x"], "gte", 7, { within: "6h" });
  return snapshotOf({
    ...parts,
    states: { here: [["there", moved]], there: [["here", moved]] },
    segments: { other, ...segments },
  });
}

const draft = fc.record({
  name: fc.constantFrom(...["a", "a", "a", "a", "a", "a", "b", "b"], ...["move", "seats"]),
  gap: fc.constantFrom(0, 0, 1, 1, 2, 3),
  late: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 45, 170),
  x: fc.constantFrom(0, 1, 1, 2, 3, 0.5, 10, 58),
  hasX: fc.constantFrom(true, true, true, true, true, true, true, false),
  isNegative: fc.constantFrom(false, false, false, false, false, false, false, true),
});

/** Operations with gaps of some minutes or none between them. */
const operations = (minutes: number, length: { minLength: number; maxLength: number }): fc.Arbitrary<Operation[]> =>
  fc.tuple(fc.boolean(), fc.array(draft, { ...length, size: "max" })).map(([isPositive, drafts]) => {
    let now = 0;
    return drafts.map(({ name, gap, late, x, hasX, isNegative }, i): Operation => {
      now += gap * minutes * MINUTE;
      const seq = i + 1;
      if (name === "seats") return { kind: "identify", seq, traits: { seats: x }, acceptedAt: now };
      const value = isNegative && !isPositive ? -x : x;
      return { ...seen(seq, now - late * MINUTE, name, hasX ? { x: value } : {}), acceptedAt: now };
    });
  });

/** Operations in one call, in one call each, and under the reference, which end alike; with the time until then, if given. */
function alike(given: Snapshot, operations: readonly Operation[], until?: number): Run {
  const model = compile(given);
  const [one, parted] = [new Run(model), new Run(model, "pages")];
  const reference = new Reference("c1", given);
  one.take(operations);
  for (const operation of operations) {
    parted.take([operation]);
    reference.take(operation);
  }
  expect(parted.state.nextDueAt).toBe(one.state.nextDueAt);
  if (until !== undefined) for (const run of [one, parted]) run.tick(until);
  if (until !== undefined) reference.catchUp(until);
  expect(one.effects).toEqual(parted.effects);
  expectEqual(one, reference);
  return one;
}

describe("the search for the next change of a number", () => {
  it("finds the same whether events come in one call or one by one", { timeout }, () => {
    fc.assert(
      fc.property(moving, reader, operations(20, { minLength: 8, maxLength: 20 }), (of, read, list) => {
        alike(modelOf(read(of)), list, list.at(-1)!.acceptedAt + 48 * HOUR);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});

describe("a search that is remembered between calls", () => {
  it("finds the same as a new search after each operation", { timeout }, () => {
    let remembered = 0;
    fc.assert(
      fc.property(moving, reader, operations(1, { minLength: 100, maxLength: 180 }), (of, read, list) => {
        const pair = new Pair(modelOf(read(of)), 7);
        for (const operation of list) pair.take(operation);
        for (let hours = 1; hours <= 13; hours += 3) pair.tick(list.at(-1)!.acceptedAt + hours * HOUR);
        remembered += pair.remembered;
      }),
      { numRuns: propertyRuns(15) },
    );
    expect(remembered).toBeGreaterThan(100);
  });

  /** One event a minute, starting at the given minute. */
  const sales = (pair: Pair, from: number, amounts: readonly number[], event = "sold"): void =>
    amounts.forEach((n, i) => pair.take(seen(1 + from + i, (from + i) * MINUTE, event, { n })));
  const many = (n: number): number[] => Array.from({ length: 40 }, () => n);

  it("finds the next change when one event skips the lower scores between two equal ones", () => {
    const score = steps(number(["sold", "n"], { within: "1d" }), 50, 0, 50);
    const parts = { health: healthOf({ c: score }, { good: 50, bad: 0 }), segments: { s: healthIs("gte", 50) } };
    const pair = new Pair(snapshotOf(parts));
    sales(pair, 0, many(0.1));
    expect(pair.remembering.state.nextDueAt).toBe(null);
    sales(pair, 60, [58]);
    // When only two of the small ones are left.
    expect(pair.remembering.state.nextDueAt).toBe(19 * MINUTE + DAY);
  });

  describe("is due exactly", () => {
    /** The hours after which a customer is due; a happening is its hour, event and, in most, `x`. */
    const dueIn = (parts: Parts, happenings: string): number | null => {
      const operations = happenings.split(", ").map((text, i) => {
        const [hours, event, x] = text.split(" ") as [string, string, string?];
        return seen(i + 1, Number(hours) * HOUR, event, x === undefined ? {} : { x: Number(x) });
      });
      const { nextDueAt } = alike(snapshotOf(parts), operations).state;
      return nextDueAt === null ? null : nextDueAt / HOUR;
    };
    const day = { within: "1d" };
    const [a, b] = [number(["a", "x"], day), number(["b", "x"], day)];
    const values: Measure = { kind: "distinct", of: { event: "a" }, property: "x", ...day };

    it.each<[string, number | null, Condition, string]>([
      ["a sum that falls exactly to its limit", 24, aggregate("sum", ["a", "x"], "eq", 10, day), "0 a 2, 1 a 9, 2 a 1"],
      ["a sum that passes an excluded value", null, aggregate("sum", ["a", "x"], "ne", 5, day), "0 a 3, 1 a 7, 2 a -3"],
      ["a ratio of decimals at its limit", 24, compared(per(a, b), "gte", 3), "0 a 0.3, 1 a 0.4, 1 b 0.1, 2 a -0.1"],
      ["a ratio of whole numbers", 24, compared(per(a, b), "gte", 3), "0 a 1, 1 a 4, 1 b 1, 2 a -0.7, 2 b 0.1"],
      ["a ratio whose divisor falls", 24, compared(per(a, b), "gte", 1), "0 b 2, 1 a 100, 1 b 3, 2 b -3"],
      ["a difference of events that leave together", null, compared(minus(a, b), "gte", -5), "0 a 10, 1 a 10, 1 b 12"],
      [
        "a number of distinct values, after an event without one",
        25,
        compared(minus(values, number("b", day)), "gte", 1),
        "0 a 1, 1 a 2, 2 a 3, 3 a, 3 b",
      ],
      [
        "an average of numbers that doubles can just distinguish",
        24,
        aggregate("avg", ["a", "x"], "gt", 2 ** 42, day),
        `0 a ${2 ** 42 + 1e5}, 1 a ${2 ** 42 + 0.01}${`, 2 a ${2 ** 42}`.repeat(25)}`,
      ],
    ])("%s", (_, hours, when, happenings) => {
      expect(dueIn(having(when), happenings)).toBe(hours);
    });

    it("a score that rounds to its end value just before reaching it", () => {
      const score: Score = { kind: "scale", of: a, from: 1_000_000, to: 0 };
      const health = healthOf({ c: score }, { good: 50, bad: 0 });
      const parts = { health, segments: { s: healthIs("gte", 100) } };
      expect(dueIn(parts, "0 a -1e-11, 1 a -2e-11, 2 a 1e-11, 2.5 a 1e-11")).toBe(null);
    });
  });

  it("continues where a window holds decimals that its sum does not show", () => {
    const when = aggregate("avg", ["sold", "n"], "gte", 4.5, { within: "30d" });
    const run = new Run(compile(snapshotOf(having(when))), 50);
    // An even number of halves, then enough tens to lift the average to the limit.
    const sale = (n: number, i: number): TrackOperation => seen(i + 1, i * MINUTE, "sold", { n });
    run.take(Array.from({ length: 2_100 }, (_, i) => sale(i < 1_500 ? 1.5 + (i % 3) : 10, i)));
    expect(Object.keys(run.state.segments)).toEqual(["s"]);
    const { length } = run.requests;
    for (let i = 0; i < 40; i++) run.take([sale(10, 2_100 + i)]);
    expect(run.requests.length - length).toBeLessThan(20);
  });

  it("distinguishes at most a thousand values in a ratio, even if other conditions need more", () => {
    const month = { within: "30d" };
    const users: Measure = { kind: "distinct", of: { event: "sold" }, property: "user", ...month };
    const model = compile(
      snapshotOf({
        segments: {
          s: compared(per(number(["sold", "n"], month), users), "gte", 1.05),
          many: { ...users, operator: "gte", value: 2_000, within: "60d" },
        },
      }),
    );
    const run = new Run(model, 300);
    const sale = (i: number, n: number) => seen(i + 1, i * MINUTE, "sold", { n, user: `u${i}` });
    run.take(Array.from({ length: 1_100 }, (_, i) => sale(i, 1)));
    // When 1,049 are left, of whom 1,000 are distinguished; users who come later do not matter.
    for (let i = 0; i <= 20; i++) {
      expect(run.state.nextDueAt).toBe(50 * MINUTE + 30 * DAY);
      run.take([sale(1_100 + i, 0)]);
    }
  });

  it("includes events since the last search, also if no search ran before it was remembered", () => {
    const states: Parts["states"] = {
      b: [["a", happened("back", { since: "state" })]],
      a: [
        ["b", happened("go", { since: "state" })],
        ["c", aggregate("sum", ["sold", "n"], "lt", 1_000, { within: "30d" })],
      ],
      c: "terminal",
    };
    const model = compile(snapshotOf({ states }));
    const [one, parted] = [new Run(model, 300), new Run(model, 300)];
    const operations = Array.from({ length: 1_100 }, (_, i) => seen(i + 1, i * MINUTE, "sold", { n: 1 }));
    operations.push(
      ...["back", "go", "sold", "back"].map((event, i) => seen(1_101 + i, (1_100 + i) * MINUTE, event, { n: 1 })),
    );
    one.take(operations);
    for (const part of [operations.slice(0, 1_101), operations.slice(1_101, 1_103), operations.slice(1_103)])
      parted.take(part);
    expect(parted.state.nextDueAt).toBe(one.state.nextDueAt);
  });

  it("resumes where a ratio was first absent, when an event gives it a divisor", () => {
    const ratio = per(number(["sold", "n"], { within: "1d" }), number("asked", { within: "6h" }));
    const pair = new Pair(snapshotOf(having(compared(ratio, "gte", 5))));
    sales(pair, 0, many(1));
    for (let i = 0; i < 40; i++) pair.take(seen(100 + i, HOUR, "asked"));
    expect(pair.remembered).toBeGreaterThan(0);
    pair.take(seen(200, 2 * HOUR, "asked"));
    // All but the last one leave together, and the ratio is forty.
    expect(pair.remembering.state.nextDueAt).toBe(7 * HOUR);
  });

  it("is discarded if no search ran after an event changed the number", () => {
    const [bought, returned] = ["bought", "returned"].map((event) => number([event, "n"], { within: "6h" }));
    const more = (value: number): Condition => compared(minus(bought!, returned!), "gte", value);
    const [go, back] = [happened("go", { since: "state" }), happened("back", { since: "state" })];
    // oxfmt-ignore
    const states: Parts["states"] = { here: [["met", more(3)], ["away", go]], away: [["here", back]], met: "terminal" };
    const happenings = [
      seen(1, 0, "returned", { n: 1 }),
      seen(2, HOUR, "returned", { n: 0 }),
      seen(3, HOUR, "bought", { n: 1 }),
      seen(4, 2 * HOUR, "go"),
      seen(5, 6.5 * HOUR, "bought", { n: 1 }),
      seen(6, 6.5 * HOUR, "bought", { n: 1 }),
      { ...seen(7, 0.6 * HOUR, "returned", { n: 1 }), acceptedAt: 6.5 * HOUR },
      seen(8, 6.55 * HOUR, "back"),
    ];
    // When the late event leaves.
    const { lifecycle } = alike(snapshotOf({ states, segments: { one: more(1) } }), happenings, 20 * HOUR).state;
    expect(lifecycle).toMatchObject({ state: "met", enteredAt: 6.6 * HOUR });
  });

  it("starts anew when a trait changes that the number depends on", () => {
    const ratio = per(number(["sold", "n"], { within: "1d" }), traitNumber("seats"));
    const pair = new Pair(snapshotOf(having(compared(ratio, "gte", 1))));
    pair.take({ kind: "identify", seq: 1, traits: { seats: 4 }, acceptedAt: 0 });
    sales(pair, 1, many(1));
    expect(pair.remembered).toBeGreaterThan(0);
    // When three are left.
    expect(pair.remembering.state.nextDueAt).toBe(37 * MINUTE + DAY);
    pair.take({ kind: "identify", seq: 100, traits: { seats: 8 }, acceptedAt: HOUR });
    pair.tick(2 * HOUR);
    expect(pair.remembering.state.nextDueAt).toBe(33 * MINUTE + DAY);
  });

  it("keeps sixteen occurrences of a window, also of one that none has left yet", () => {
    const ratio = per(number(["sold", "n"], { within: "30d" }), number("asked", { within: "1d" }));
    const pair = new Pair(snapshotOf(having(compared(ratio, "lt", 0))));
    sales(pair, 0, many(1));
    sales(pair, 100, many(1), "asked");
    const { outlook } = pair.remembering.state.memory.searches![0]!;
    const sizes = outlook.aggregates.map((one) => (one as SumMemory).window!.oldest.seq.length);
    expect(Math.max(...sizes)).toBe(16);
  });

  const month = { within: "30d" };
  const sold = number(["sold", "n"], month);
  const large = number("sold", { ...month, where: property("n", "eq", 50) });
  it.each<[string, Parts]>([
    ["a sum", having(aggregate("sum", ["sold", "n"], "gte", 100, month))],
    ["a sum per trait", having(compared(per(sold, traitNumber("seats")), "gte", 10))],
    ["a score at its end value", { health: healthOf({ c: summed(["sold", "n"], 200, month) }, { good: 50, bad: 0 }) }],
    ["an average", having(aggregate("avg", ["sold", "n"], "gte", 20, month))],
    ["a sum that never reaches its limit", having(aggregate("sum", ["sold", "n"], "eq", 7, month))],
    ["an average per event", having(compared(per(sold, number("sold", month)), "lt", 24))],
    ["a share of events that follow many others", having(compared(per(large, number("sold", month)), "gte", 0.05))],
    ["a difference of two windows", having(compared(minus(sold, number(["sold", "n"], { within: "10d" })), "gte", 10))],
    [
      "a sum relative to the one before",
      having(compared(per(sold, { ...sold, previous: true } as Measure), "lte", 0.5)),
    ],
  ])("takes the same little history, however much a window holds: %s", (_, parts) => {
    const requestsAmong = (events: number): number => {
      const run = new Run(compile(snapshotOf(parts)), 50);
      const step = (20 * DAY) / events;
      run.take([{ kind: "identify", seq: 1, traits: { seats: 5 }, acceptedAt: 0 }]);
      run.take(
        Array.from({ length: events }, (_, i) => seen(i + 2, 20 * DAY + i * step, "sold", { n: 1 + ((i * 7) % 50) })),
      );
      const { length } = run.requests;
      for (let i = 0; i < 100; i++) {
        run.take([seen(events + i + 2, 40 * DAY + i * MINUTE, "sold", { n: 1 + ((i * 7) % 50) })]);
      }
      return run.requests.length - length;
    };
    // One for every sixteen events, and for those that left the window.
    expect(requestsAmong(2_000)).toBeLessThan(20);
    expect(requestsAmong(500)).toBeLessThan(20);
  });
});
