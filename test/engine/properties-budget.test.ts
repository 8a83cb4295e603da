import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evaluate, type Budget, type Operation } from "../../src/engine/index.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import {
  aggregate,
  compile,
  happened,
  inactiveFor,
  inState,
  modelOf,
  seen,
  snapshotOf,
  type StepParts,
} from "./support/builders.js";
import { replayedInParts, replayOf } from "./support/replays.js";
import { check, ofInstants, Run, runs, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 20 });
const batches = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
const spent: Budget = () => false;

describe("evaluation within a budget", () => {
  it("ends as without one, also if some of the future operations are not loaded", { timeout }, () => {
    const more = { budget: 0, ahead: 0, both: 0 };
    const limit = fc.constantFrom(...(Object.keys(more) as (keyof typeof more)[]));
    const loaded = fc.integer({ min: 1, max: 2 });
    check(
      fc.property(
        snapshot,
        operations,
        batches,
        batches,
        sizes,
        loaded,
        limit,
        (given, some, cuts, later, ...limits) => {
          const [budgets, aheadMax, limited] = limits;
          const model = compile(given);
          const sequence = some.map((operation, i): Operation => {
            if (operation.kind === "identify" || !later[i]) return operation;
            return { ...operation, occurredAt: operation.acceptedAt + (6 + ((i * 7) % 20)) * 60_000 };
          });
          const budget = () => ofInstants(limited === "ahead" ? Infinity : budgets[parted.calls % budgets.length]!);
          const parted: Run = new Run(model, "pages", undefined, budget, limited === "budget" ? Infinity : aheadMax);
          more[limited] += moreCalls(new Run(model), parted, sequence, cuts);
        },
      ),
    );
    expect(more.budget).toBeGreaterThan(runs / 2);
    expect(more.both).toBeGreaterThan(runs / 2);
    expect(more.ahead).toBeGreaterThan(20);
  });

  it("advances by at least one instant, however small the budget is", () => {
    const model = modelOf({ states: { a: [["b", inState("1h")]], b: "terminal" } });
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

describe("a replay within a budget", () => {
  it("counts the same since the previous step after the last step is complete", () => {
    const steps: StepParts[] = [
      ["quiet", inactiveFor("6h")],
      ["two", aggregate("sum", ["a", "x"], "eq", 2), "previousStep"],
    ];
    const given = snapshotOf({ journeys: { j: { start: happened("a"), steps } } });
    const at = (seq: number, hour: number, x: number) => seen(seq, hour * 3_600_000, "a", { x });
    const { run, model, replayed } = replayOf(given, [at(1, 0, 0), at(2, 0, 1), at(3, 12, 2)]);
    const parted = replayedInParts(run, model, (events) => ({ events, through: FINAL_INSTANT, budget: spent }));
    expect(parted).toEqual(replayed);
  });
});

/** Expects two runs of the operations in batches to end the same; returns how many more calls the second took. */
function moreCalls(unlimited: Run, parted: Run, sequence: readonly Operation[], cuts: readonly boolean[]): number {
  for (const run of [unlimited, parted]) {
    let batch: Operation[] = [];
    sequence.forEach((operation, i) => {
      batch.push(operation);
      if (!cuts[i]) return;
      run.take(batch);
      batch = [];
    });
    run.take(batch);
    run.tick(FINAL_INSTANT);
  }
  expect(parted.effects).toEqual(unlimited.effects);
  expect(viewOfState(parted.state)).toEqual(viewOfState(unlimited.state));
  return parted.calls - unlimited.calls;
}
