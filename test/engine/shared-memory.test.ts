import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { explain, type CustomerState, type Effect, type TrackOperation } from "../../src/engine/index.js";
import type { Condition, OccurrenceScope } from "../../src/model/snapshot/types.js";
import { distinct, happened, modelOf, seen, type Parts } from "./support/builders.js";
import { check, Run, timeout } from "./support/runner.js";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** Different windows, and a start that moves. */
const SCOPES: OccurrenceScope[] = [{}, { within: "2h" }, { within: "9h" }, { within: "4d" }, { since: "state" }];

type Asked = (scope: OccurrenceScope, limit: number) => Condition;

const distinctTags: Asked = (scope, limit) => distinct(["x", "tag"], "gte", limit, scope);
const latestTag: Asked = (scope) => {
  return { kind: "latest", of: { event: "x" }, property: "tag", operator: "in", value: ["a", "b"], ...scope };
};

/** Two states between which each `move` switches, and a segment for each condition. */
function withSegments(segments: Record<string, Condition>): Parts {
  const moved = happened("move", { since: "state" });
  return { states: { on: [["off", moved]], off: [["on", moved]] }, segments };
}

/** Events of a customer, some late by the given hours. */
function history(late: readonly number[]): fc.Arbitrary<TrackOperation[]> {
  const happening = fc.record({
    event: fc.constantFrom("x", "x", "x", "x", "move"),
    quarters: fc.nat({ max: 30 }),
    late: fc.constantFrom(...late),
    tag: fc.constantFrom("a", "b", "c", "d", 1, true),
  });
  return fc.array(happening, { minLength: 5, maxLength: 40 }).map((happenings) => {
    let acceptedAt = START;
    return happenings.map(({ event, quarters, late: hours, tag }, index): TrackOperation => {
      acceptedAt += (quarters * HOUR) / 4;
      return { ...seen(index + 1, acceptedAt - hours * HOUR, event, { tag }), acceptedAt };
    });
  });
}

const limits = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: SCOPES.length, maxLength: SCOPES.length });

describe("conditions over the same event and property", () => {
  it("share one memory, whatever their windows", () => {
    const conditions = Array.from({ length: 40 }, (_, i) =>
      distinct(["x", "tag"], "gte", 200, { within: `${300 + i}d` }),
    );
    const segments = Object.fromEntries(conditions.map((condition, i) => [`s${i}`, condition]));
    const sizes = [modelOf({ segments: { s0: conditions[0]! } }), modelOf({ segments })].map((model) => {
      const run = new Run(model);
      run.take(Array.from({ length: 1_000 }, (_, i) => seen(i + 1, START + i * 1_000, "x", { tag: `user-${i}` })));
      return JSON.stringify(run.state.memory).length;
    });
    expect(sizes[1]).toBeLessThan(1.5 * sizes[0]!);
  });

  describe.each([
    ["distinct values", distinctTags],
    ["the latest value", latestTag],
  ])("%s", (_, asked) => {
    it("give the same results as with separate memories, and continue exactly from those", { timeout }, () => {
      check(
        fc.property(fc.boolean(), limits, fc.nat({ max: 40 }), fc.gen(), (isLate, given, cut, random) => {
          const operations = random(history, isLate ? [0, 0, 0, 1, 7] : [0]);
          const segments = Object.fromEntries(SCOPES.map((scope, i) => [`s${i}`, asked(scope, given[i]!)]));
          const shared = new Customer(segments);
          const alone = Object.entries(segments).map(([id, when]) => new Customer({ [id]: when }));
          for (const customer of [shared, ...alone]) customer.take(operations.slice(0, cut));
          const upgraded = shared.copyWith(alone.map(({ run }) => run.state.memory.aggregates[0]!));
          for (const customer of [shared, upgraded, ...(isLate ? [] : alone)]) {
            customer.take(operations.slice(cut));
            customer.end(operations);
          }
          expect(upgraded.run.state).toEqual(shared.run.state);
          expect(upgraded.run.effects).toEqual(shared.run.effects);
          // Late events are evaluated at the clock, which depends on which conditions are due.
          if (isLate) return;
          alone.forEach((customer, i) => {
            expect(shared.effectsOf(`s${i}`)).toEqual(customer.effectsOf(`s${i}`));
            expect(shared.explained(i)).toEqual(customer.explained(0));
          });
        }),
      );
    });
  });
});

class Customer {
  readonly model;
  readonly run: Run;

  constructor(private readonly segments: Record<string, Condition>) {
    this.model = modelOf(withSegments(segments));
    this.run = new Run(this.model);
  }

  /** The customer with the memory kept by a release that did not share it. */
  copyWith(aggregates: CustomerState["memory"]["aggregates"]): Customer {
    const copy = new Customer(this.segments);
    const { state, effects, deferred } = this.run;
    const isNew = state.memory.model === null;
    const memory = isNew ? state.memory : { ...state.memory, model: this.model.hash, aggregates };
    Object.assign(copy.run, { state: { ...state, memory }, effects: [...effects], deferred: [...deferred] });
    return copy;
  }

  /** One call for every three operations, which also fires timers. */
  take(operations: readonly TrackOperation[]): void {
    for (let i = 0; i < operations.length; i += 3) {
      const part = operations.slice(i, i + 3);
      this.run.take(part, { now: part.at(-1)!.acceptedAt, timers: "fire" });
    }
  }

  /** Brings all clocks to the same instant. */
  end(operations: readonly TrackOperation[]): void {
    this.take([seen(operations.length + 1, operations.at(-1)!.acceptedAt + HOUR, "y")]);
  }

  effectsOf(segment: string): Effect[] {
    return this.run.effects.filter((effect) => "segment" in effect && effect.segment === segment);
  }

  explained(position: number): unknown {
    return explain(this.model, this.run.state).segments[position];
  }
}
