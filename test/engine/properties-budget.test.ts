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
import { check, Run, runs, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 20 });
const batches = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });

describe("evaluation within a budget", () => {
  it("ends as without a budget", { timeout }, () => {
    let slices = 0;
    check(
      fc.property(snapshot, operations, batches, sizes, (given, sequence, cuts, budgets) => {
        const model = compile(given);
        const sliced: Run = new Run(model, "pages", undefined, () =>
          ofInstants(budgets[sliced.calls % budgets.length]!),
        );
        slices += moreCalls(new Run(model), sliced, sequence, cuts);
      }),
    );
    expect(slices).toBeGreaterThan(2 * runs);
  });

  it("advances by at least one instant, however small the budget is", () => {
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

describe("evaluation with some of the future operations not loaded", () => {
  it("ends as with all of them loaded", { timeout }, () => {
    let calls = 0;
    const loaded = fc.integer({ min: 1, max: 2 });
    check(
      fc.property(snapshot, operations, batches, batches, loaded, (given, some, cuts, later, aheadMax) => {
        const model = compile(given);
        const sequence = some.map((operation, i): Operation => {
          if (operation.kind === "identify" || !later[i]) return operation;
          return { ...operation, occurredAt: operation.acceptedAt + (6 + ((i * 7) % 20)) * 60_000 };
        });
        calls += moreCalls(new Run(model), new Run(model, "pages", undefined, undefined, aheadMax), sequence, cuts);
      }),
    );
    expect(calls).toBeGreaterThan(100);
  });
});

describe("a replay within a budget", () => {
  it("ends as without a budget", { timeout }, () => {
    let parts = 0;
    check(
      fc.property(snapshot, operations, sizes, (given, sequence, budgets) => {
        const { run, model, replayed } = replayOf(given, sequence);
        const parted = replayedInParts(run, model, (events, part) => {
          parts++;
          return { events, through: FINAL_INSTANT, budget: ofInstants(budgets[part % budgets.length]!) };
        });
        expect(parted).toEqual(replayed);
      }),
    );
    expect(parts).toBeGreaterThan(2 * runs);
  });

  it("counts the same since the previous step after the last step is complete", () => {
    const spent: Budget = () => false;
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

/** A budget of `count` instants. */
function ofInstants(count: number): Budget {
  let left = count;
  return () => --left > 0;
}
