import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Explanation } from "../../src/engine/conditions/leaf.js";
import { compileModel, evaluate, explain, newCustomer } from "../../src/engine/index.js";
import type { CustomerState, Json, Operation } from "../../src/engine/state/types.js";
import { hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Condition, type Score, type Snapshot } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 0, 1);

const login = { event: "login" };
const pro: Condition = { kind: "trait", trait: "plan", operator: "eq", value: "pro" };
const logins = (value: number, within?: string): Condition => ({
  kind: "count",
  of: login,
  operator: "gte",
  value,
  ...(within === undefined ? {} : { within }),
});

type Happening = [hours: number, event: string, properties?: Record<string, Json>];

function modelOf(parts: Partial<Snapshot>): ReturnType<typeof compileModel> {
  const snapshot = { ...EMPTY_SNAPSHOT, ...parts };
  return compileModel(snapshot, hashSnapshot(snapshot));
}

function stateAfter(
  model: ReturnType<typeof compileModel>,
  happenings: readonly Happening[],
  traits: Record<string, Json> = {},
): CustomerState {
  const operations: Operation[] = [
    { kind: "identify", seq: 1, traits, acceptedAt: T0 },
    ...happenings.map(([hours, event, properties = {}], i): Operation => ({
      kind: "track",
      seq: i + 2,
      eventId: `e${i + 1}`,
      event,
      properties,
      occurredAt: T0 + hours * HOUR,
      acceptedAt: T0 + hours * HOUR,
    })),
  ];
  return evaluate(model, newCustomer("c1", T0), operations, { now: 0, timers: "hold" }).state;
}

/** Why a condition holds or not after some events and with some traits. */
function explained(condition: Condition, happenings: Happening[], traits: Record<string, Json> = {}): Explanation {
  const model = modelOf({ segments: [{ id: "s", when: condition }] });
  return explain(model, stateAfter(model, happenings, traits)).segments[0]!["condition"] as unknown as Explanation;
}

describe("the explanation of a condition", () => {
  it("says what is expected, what there is and what lacks", () => {
    expect(explained(logins(3, "30d"), [[0, "login"]])).toEqual({
      kind: "count",
      text: 'count of "login" within 30d at least 3',
      expected: "at least 3",
      actual: 1,
      met: false,
      missing: 2,
      flipsAt: null,
    });
  });

  it("says when time alone ends it", () => {
    const explanation = explained(logins(2, "7d"), [
      [0, "login"],
      [1, "login"],
      [2, "login"],
    ]);
    expect(explanation).toMatchObject({ actual: "2 or more", met: true, missing: null });
    expect(explanation.flipsAt).toBe("2026-01-08T01:00:00.000Z");
  });

  it("shows filters, sums and their exact difference", () => {
    const condition: Condition = {
      kind: "aggregate",
      function: "sum",
      of: { event: "paid", where: { kind: "compare", property: "kind", operator: "in", value: ["new", "more"] } },
      property: "amount",
      operator: "gte",
      value: 1,
      within: "30d",
    };
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

  it("shows every part of a condition, and which of them lack", () => {
    const explanation = explained({ kind: "all", conditions: [pro, logins(1)] }, [[0, "login"]], { plan: "free" });
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
    const either: Condition = { kind: "any", conditions: [logins(2, "2d"), logins(1, "5d")] };
    const both: Condition = { kind: "all", conditions: [logins(2, "2d"), logins(1, "5d")] };
    const twice: Happening[] = [
      [0, "login"],
      [24, "login"],
    ];
    expect(explained(either, twice).flipsAt).toBe("2026-01-07T00:00:00.000Z");
    expect(explained(both, twice).flipsAt).toBe("2026-01-03T00:00:00.000Z");
    expect(explained({ kind: "not", condition: either }, twice)).toMatchObject({
      met: false,
      flipsAt: "2026-01-07T00:00:00.000Z",
    });
  });

  it("finds when several parts flip by the last of many changes", () => {
    const conditions = ["1d", "2d", "3d", "4d", "5d"].map((within) => logins(1, within));
    expect(explained({ kind: "any", conditions }, [[0, "login"]]).flipsAt).toBe("2026-01-06T00:00:00.000Z");
  });

  it("says what a negation is about", () => {
    expect(explained({ kind: "not", condition: pro }, [], { plan: "pro" })).toMatchObject({
      text: 'not (plan is "pro")',
      actual: true,
      met: false,
      missing: 'not (plan is "pro")',
    });
  });

  it("cuts long values", () => {
    const explanation = explained(pro, [], { plan: "x".repeat(5_000) });
    expect(explanation.actual).toMatch(/^x{99}…$/);
  });

  it("asks for nothing where there is nothing to compare", () => {
    const condition: Condition = { kind: "daysSince", which: "last", of: login, operator: "gte", value: 3 };
    expect(explained(condition, [[0, "other"]])).toMatchObject({ actual: null, missing: "at least 3", flipsAt: null });
    expect(explained(condition, [[0, "login"]])).toMatchObject({ actual: 0, flipsAt: "2026-01-04T00:00:00.000Z" });
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

  it("changes by time alone exactly when it is said to", () => {
    const happenings = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: -1, max: 5 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(measures, scores, happenings, (of, score, list) => {
        const model = modelOf({
          health: {
            components: [{ id: "c", weight: 1, score: { ...score, of } }],
            bands: [{ id: "all", from: 0 }],
          },
          // Reading it makes the health due exactly when it changes.
          segments: [{ id: "s", when: { kind: "health", operator: "gte", value: 0 } }],
        });
        let hours = 0;
        let state = stateAfter(
          model,
          list.map(([step, n]): Happening => [(hours += step), "login", { n }]),
        );
        const plain = (t: number): number => scoreOf({ ...score, of }, list, t);
        for (let step = 0; step < 20; step++) {
          const clock = state.evaluatedThrough!;
          expect(state.health!.overall).toBe(round(plain(clock)));
          const instants = Array.from({ length: 24 * 12 }, (_, hour) => (Math.floor(clock / HOUR) + hour + 1) * HOUR);
          const change = instants.find((instant) => plain(instant) !== plain(clock)) ?? null;
          expect(state.timerDueAt).toBe(change);
          if (change === null) return;
          state = JSON.parse(
            JSON.stringify(evaluate(model, state, [], { now: change, timers: "fire" }).state),
          ) as CustomerState;
        }
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  function scoreOf(score: Score, list: readonly [number, number][], t: number): number {
    if (score.kind === "map") return 0;
    let at = T0;
    const all = list.map(([step, n]) => ({ at: (at += step * HOUR), n }));
    const { of } = score;
    const within = "within" in of ? 30 * HOUR : Infinity;
    const inScope = all.filter((one) => one.at > t - within);
    const value = measured(of, inScope, all, t);
    if (value === undefined) return 0;
    if (score.kind === "scale") {
      return Math.min(100, Math.max(0, ((value - score.from) / (score.to - score.from)) * 100));
    }
    return score.steps.find(([limit]) => value <= limit)?.[1] ?? score.otherwise;
  }

  function measured(
    of: Extract<Score, { kind: "scale" }>["of"],
    inScope: { at: number; n: number }[],
    all: { at: number; n: number }[],
    t: number,
  ): number | undefined {
    const numbers = inScope.map(({ n }) => n);
    const sum = numbers.reduce((total, n) => total + n, 0);
    if (of.kind === "count") return numbers.length;
    if (of.kind === "distinct") return new Set(numbers).size;
    if (of.kind === "latest") return numbers.at(-1);
    if (of.kind === "daysSince") return Math.floor((t - all.at(of.which === "first" ? 0 : -1)!.at) / DAY);
    if (of.kind === "trait" || (numbers.length === 0 && of.function !== "sum")) return undefined;
    if (of.function === "sum") return sum;
    if (of.function === "avg") return sum / numbers.length;
    return of.function === "min" ? Math.min(...numbers) : Math.max(...numbers);
  }

  function round(score: number): number {
    return Math.round(score * 100) / 100;
  }
});
