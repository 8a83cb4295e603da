import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  evaluate,
  replay,
  replayPart,
  type Budget,
  type CustomerState,
  type Effect,
  type Operation,
  type Replayed,
} from "../../src/engine/index.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { compile, inState, modelOf, seen } from "./support/builders.js";
import { check, Run, runs, timeout, withHistory } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 20 });
const batches = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });

describe("evaluation within a budget", () => {
  it("ends as without one, whatever the budget", { timeout }, () => {
    let slices = 0;
    check(
      fc.property(snapshot, operations, batches, sizes, (given, sequence, cuts, budgets) => {
        const model = compile(given);
        const whole = new Run(model);
        const sliced = new Run(model, "pages", undefined, () => ofInstants(budgets[sliced.calls % budgets.length]!));
        let batch: Operation[] = [];
        sequence.forEach((operation, i) => {
          batch.push(operation);
          if (!cuts[i]) return;
          for (const run of [whole, sliced]) run.take(batch);
          batch = [];
        });
        for (const run of [whole, sliced]) run.take(batch);
        for (const run of [whole, sliced]) run.tick(FINAL_INSTANT);
        expect(sliced.effects).toEqual(whole.effects);
        expect(viewOfState(sliced.state)).toEqual(viewOfState(whole.state));
        slices += sliced.calls - whole.calls;
      }),
    );
    expect(slices).toBeGreaterThan(2 * runs);
  });

  it("goes on by one instant at least, however small it is", () => {
    const model = modelOf({ states: { a: [["b", inState("1h")]], b: "terminal" } });
    const spent: Budget = () => false;
    const first = evaluate(model, new Run(model).state, [seen(1, 0)], {
      now: 7_200_000,
      timers: "fire",
      budget: spent,
    });
    expect(first).toMatchObject({
      taken: 1,
      isDone: false,
      state: { lifecycle: { state: "a" }, nextDueAt: 3_600_000 },
    });
    const second = evaluate(model, first.state, [], { now: 7_200_000, timers: "fire", budget: spent });
    expect(second).toMatchObject({ taken: 0, isDone: true, state: { lifecycle: { state: "b" }, nextDueAt: null } });
  });
});

describe("evaluation of operations of which some that lie ahead are not at hand", () => {
  it("ends as with all of them", { timeout }, () => {
    let calls = 0;
    check(
      fc.property(
        snapshot,
        operations,
        batches,
        batches,
        fc.integer({ min: 1, max: 2 }),
        (given, some, cuts, later, aheadMax) => {
          const model = compile(given);
          const sequence = some.map((operation, i): Operation =>
            operation.kind === "track" && later[i]
              ? { ...operation, occurredAt: operation.acceptedAt + (6 + ((i * 7) % 20)) * 60_000 }
              : operation,
          );
          const whole = new Run(model);
          const parted = new Run(model, "pages", undefined, undefined, aheadMax);
          let batch: Operation[] = [];
          sequence.forEach((operation, i) => {
            batch.push(operation);
            if (!cuts[i]) return;
            for (const run of [whole, parted]) run.take(batch);
            batch = [];
          });
          for (const run of [whole, parted]) run.take(batch);
          for (const run of [whole, parted]) run.tick(FINAL_INSTANT);
          expect(parted.effects).toEqual(whole.effects);
          expect(viewOfState(parted.state)).toEqual(viewOfState(whole.state));
          calls += parted.calls - whole.calls;
        },
      ),
    );
    expect(calls).toBeGreaterThan(100);
  });
});

describe("a replay within a budget", () => {
  it("ends as without one, whatever the budget", { timeout }, () => {
    let parts = 0;
    check(
      fc.property(snapshot, operations, sizes, (given, sequence, budgets) => {
        if (sequence.length === 0) return;
        const model = compile(given);
        const run = new Run(model, "whole", { customerId: "c1", createdAt: sequence[0]!.acceptedAt });
        for (const operation of sequence) run.take([operation]);
        run.tick(FINAL_INSTANT);
        const events = run.evaluated();
        const whole = replay(model, { ...run.state, events, through: FINAL_INSTANT });
        const effects: Effect[] = [];
        let state: CustomerState | null = null;
        let from = 0;
        for (let part = 0; ; part++) {
          const before: CustomerState | null = state;
          const next: Replayed = withHistory(events.slice(0, from), "pages", [], (history) =>
            replayPart(model, run.state, {
              state: before,
              events: events.slice(from),
              through: FINAL_INSTANT,
              history,
              budget: ofInstants(budgets[part % budgets.length]!),
            }),
          );
          effects.push(...next.effects);
          state = next.state;
          from += next.taken;
          parts++;
          if (next.isDone) break;
        }
        expect({ state, effects }).toEqual(whole);
      }),
    );
    expect(parts).toBeGreaterThan(2 * runs);
  });
});

/** A budget of so many instants. */
function ofInstants(count: number): Budget {
  let left = count;
  return () => --left > 0;
}
