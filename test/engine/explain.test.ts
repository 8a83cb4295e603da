import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Explanation } from "../../src/engine/conditions/leaf.js";
import { explain, type Model } from "../../src/engine/index.js";
import type { Json } from "../../src/engine/state/types.js";
import type { Condition } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";
import {
  aggregate,
  all,
  any,
  compared,
  compile,
  count,
  daysSince,
  healthIs,
  minus,
  modelOf,
  not,
  number,
  per,
  property,
  seen,
  snapshotOf,
  trait,
  traitNumber,
} from "./support/builders.js";
import { factsOf, scored } from "./support/reference/facts.js";
import { Run } from "./support/runner.js";

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 1);

const login = { event: "login" };
const pro = trait("plan", "eq", "pro");
const logins = (value: number, within?: string) => count("login", "gte", value, within === undefined ? {} : { within });

type Happening = [hours: number, event: string, properties?: Record<string, Json>];
const loggedIn = (...hours: number[]): Happening[] => hours.map((hour) => [hour, "login"]);

/** A customer after some events and with some traits. */
function customer(model: Model, happenings: readonly Happening[], traits: Record<string, Json> = {}): Run {
  const run = new Run(model, "whole", { customerId: "c1", createdAt: T0 });
  run.take([
    { kind: "identify", seq: 1, traits, acceptedAt: T0 },
    ...happenings.map(([hours, event, properties], i) => seen(i + 2, T0 + hours * HOUR, event, properties)),
  ]);
  return run;
}

/** The explanation of a condition after these events and traits. */
function explained(condition: Condition, happenings: Happening[], traits: Record<string, Json> = {}): Explanation {
  const model = modelOf({ segments: { s: condition } });
  const { state } = customer(model, happenings, traits);
  return explain(model, state).segments[0]!["condition"] as unknown as Explanation;
}

describe("the explanation of a ratio", () => {
  const day = { within: "1d" };
  const trend = per(number("login", day), number("login", { ...day, previous: true }));

  it("shows both numbers, and when it flips by time alone", () => {
    expect(explained(compared(trend, "lte", 0.5), loggedIn(0, 13, 25, 36))).toEqual({
      kind: "ratio",
      text: 'count of "login" within 1d per count of "login" in the 1d before the last 1d at most 0.5',
      expected: "at most 0.5",
      actual: 3,
      operands: [
        { text: 'count of "login" within 1d', actual: 3 },
        { text: 'count of "login" in the 1d before the last 1d', actual: 1 },
      ],
      met: false,
      missing: -2.5,
      flipsAt: new Date(T0 + 49 * HOUR).toISOString(),
    });
  });

  it("shows no ratio if the divisor is 0 or absent", () => {
    const net = minus(number(["add", "x"]), number(["remove", "x"]));
    const explanation = explained(compared(per(net, traitNumber("seats")), "gte", 1), [[0, "add", { x: 0.3 }], [1, "remove", { x: 0.2 }]]); // oxfmt-ignore
    expect(explanation).toMatchObject({ actual: null, missing: "at least 1", met: false, flipsAt: null });
    expect(explanation.operands).toEqual([
      {
        text: 'sum of x of "add" minus sum of x of "remove"',
        actual: 0.1,
        operands: [
          { text: 'sum of x of "add"', actual: 0.3 },
          { text: 'sum of x of "remove"', actual: 0.2 },
        ],
      },
      { text: "seats", actual: null },
    ]);
  });

  it("is the same when it is asked for again", () => {
    const model = modelOf({ segments: { s: any(compared(trend, "lte", 0.5), all(compared(trend, "lte", 0.5), pro)) } });
    const { state } = customer(model, loggedIn(0, 13, 25, 36));
    expect(explain(model, state)).toEqual(explain(model, state));
  });
});

describe("an explanation as of a later instant", () => {
  const model = modelOf({ segments: { s: daysSince("last", "login", "gte", 10) } });
  const { state } = customer(model, loggedIn(0));
  const at = (days: number) => {
    const { asOf, segments } = explain(model, state, { at: T0 + days * 24 * HOUR });
    const { actual, flipsAt } = segments[0]!["condition"] as unknown as Explanation;
    return { asOf, actual, flipsAt };
  };
  const flipsAt = "2026-01-11T00:00:00.000Z";

  it("measures at that instant if nothing is due until then, and otherwise as of the state", () => {
    expect(at(9.5)).toEqual({ asOf: "2026-01-10T12:00:00.000Z", actual: 9, flipsAt });
    for (const days of [0, 10, -1]) expect(at(days)).toEqual({ asOf: "2026-01-01T00:00:00.000Z", actual: 0, flipsAt });
  });
});

describe("the explanation of a condition", () => {
  it("lists the conditions of a group in its text, with nested groups in brackets", () => {
    expect(explained(any(all(logins(2), pro), logins(3)), []).text).toBe(
      '(count of "login" at least 2 and plan is "pro") or count of "login" at least 3',
    );
  });

  it("shows the expected value, the actual one and what is missing", () => {
    expect(explained(logins(3, "30d"), loggedIn(0))).toEqual({
      kind: "count",
      text: 'count of "login" within 30d at least 3',
      expected: "at least 3",
      actual: 1,
      met: false,
      missing: 2,
      flipsAt: null,
    });
  });

  it("shows when time alone ends it", () => {
    const flipsAt = "2026-01-08T01:00:00.000Z";
    const explanation = explained(logins(2, "7d"), loggedIn(0, 1, 2));
    expect(explanation).toMatchObject({ actual: "2 or more", met: true, missing: null, flipsAt });
  });

  it("shows filters, sums and their exact difference", () => {
    const where = property("kind", "in", ["new", "more"]);
    const condition = aggregate("sum", ["paid", "amount"], "gte", 1, { within: "30d", where });
    const explanation = explained(condition, [
      [0, "paid", { kind: "new", amount: 0.1 }],
      [1, "paid", { kind: "more", amount: 0.2 }],
      [2, "paid", { kind: "other", amount: 100 }],
    ]);
    expect(explanation).toMatchObject({
      text: 'sum of amount of "paid" where kind is one of "new", "more" within 30d at least 1',
      actual: 0.3,
      missing: 0.7,
      met: false,
    });
  });

  it("shows every part of a condition, and which are not met", () => {
    const explanation = explained(all(pro, logins(1)), loggedIn(0), { plan: "free" });
    expect(explanation).toMatchObject({
      text: 'plan is "pro" and count of "login" at least 1',
      met: false,
      missing: ['plan is "pro"'],
    });
    expect(explanation.conditions!.map(({ met, actual }) => [met, actual])).toEqual([
      [false, "free"],
      [true, 1],
    ]);
  });

  it("finds when a condition of several parts flips, past changes that do not flip it", () => {
    const parts = [logins(2, "2d"), logins(1, "5d")];
    const [either, both] = [any(...parts), all(...parts)];
    const twice = loggedIn(0, 24);
    expect(explained(either, twice).flipsAt).toBe("2026-01-07T00:00:00.000Z");
    expect(explained(both, twice).flipsAt).toBe("2026-01-03T00:00:00.000Z");
    expect(explained(not(either), twice)).toMatchObject({ met: false, flipsAt: "2026-01-07T00:00:00.000Z" });
    const many = ["1d", "2d", "3d", "4d", "5d"].map((within) => logins(1, within));
    expect(explained(any(...many), loggedIn(0)).flipsAt).toBe("2026-01-06T00:00:00.000Z");
  });

  it("shows the condition that a negation negates, and truncates long values", () => {
    expect(explained(pro, [], { plan: "x".repeat(5_000) }).actual).toMatch(/^x{99}…$/);
    expect(explained(not(pro), [], { plan: "pro" })).toMatchObject({
      text: 'not (plan is "pro")',
      actual: true,
      met: false,
      missing: 'not (plan is "pro")',
    });
  });

  it("makes no requests if there is nothing to compare", () => {
    const condition = daysSince("last", "login", "gte", 3);
    expect(explained(condition, [[0, "other"]])).toMatchObject({ actual: null, missing: "at least 3", flipsAt: null });
    expect(explained(condition, loggedIn(0))).toMatchObject({ actual: 0, flipsAt: "2026-01-04T00:00:00.000Z" });
  });
});

describe("a score", () => {
  const scores = fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }))
      .filter(([from, to]) => from !== to)
      .map(([from, to]) => ({ kind: "scale", from, to }) as const),
    fc
      .tuple(
        fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat({ max: 100 }), { minLength: 4, maxLength: 4 }),
      )
      .map(([limits, values]) => ({
        kind: "steps" as const,
        steps: limits.sort((a, b) => a - b).map((limit, i): [number, number] => [limit, values[i]!]),
        otherwise: values[3]!,
      })),
  );
  const measures = fc.constantFrom(
    ...([{}, { within: "30h" }] as const).flatMap((scope) => [
      { kind: "count", of: login, ...scope } as const,
      { kind: "distinct", of: login, property: "n", ...scope } as const,
      { kind: "latest", of: login, property: "n", ...scope } as const,
      ...(["sum", "avg", "min", "max"] as const).map(
        (fn) => ({ kind: "aggregate", function: fn, of: login, property: "n", ...scope }) as const,
      ),
    ]),
    { kind: "daysSince", which: "first", of: login } as const,
    { kind: "daysSince", which: "last", of: login } as const,
  );

  it("changes by time alone exactly at the announced instant", () => {
    const happenings = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: -1, max: 5 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(measures, scores, happenings, (of, shape, list) => {
        const component = { id: "c", weight: 1, score: { ...shape, of } };
        const snapshot = snapshotOf({
          health: { components: [component], bands: [{ id: "all", from: 0 }] },
          // A condition that reads health makes it due exactly when it changes.
          segments: { s: healthIs("gte", 0) },
        });
        let hours = 0;
        const run = customer(
          compile(snapshot),
          list.map(([step, n]): Happening => [(hours += step), "login", { n }]),
        );
        const facts = factsOf(snapshot, run.evaluated());
        for (let step = 0; step < 20; step++) {
          const { evaluatedThrough: clock, health, timerDueAt } = run.state;
          const present = scored(facts, component, clock!)!;
          expect(health!.overall).toBe(Math.round(present * 100) / 100);
          const instants = Array.from({ length: 24 * 12 }, (_, hour) => (Math.floor(clock! / HOUR) + hour + 1) * HOUR);
          const change = instants.find((instant) => scored(facts, component, instant) !== present) ?? null;
          expect(timerDueAt).toBe(change);
          if (change === null) return;
          run.tick(change);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
