import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Operation } from "../../src/engine/index.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { compile } from "./support/builders.js";
import { CLASSES, checkUntilMet, isPlainJson } from "./support/equal.js";
import { Coverage, Run, tickLimit, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const MINUTE = 60_000;

describe("a sequence of operations", () => {
  it("ends alike however it is split into batches and ticks", { timeout }, () => {
    const coverage = new Coverage();
    const before = fc.option(fc.constantFrom(0, 1, 4 * MINUTE, 360 * MINUTE), { nil: null });
    const cuts = fc.array(fc.record({ cut: fc.boolean(), tick: before }), { minLength: 12, maxLength: 12 });
    checkUntilMet(
      "batches and ticks",
      { coverage, classes: [...CLASSES, "batch", "tick"] },
      fc.property(snapshot, operations, cuts, (given, sequence, splits) => {
        const model = compile(given);
        const { one, limits } = oneAtATime(new Run(model), sequence);
        const batched = new Run(model, "pages");
        let batch: Operation[] = [];
        sequence.forEach((operation, i) => {
          const { cut, tick } = splits[i]!;
          if (cut) {
            batched.take(batch);
            batch = [];
            coverage.add("batch");
            if (tick !== null) {
              batched.tick(limits[i]! - tick);
              coverage.add("tick");
            }
          }
          batch.push(operation);
        });
        batched.take(batch);
        batched.tick(FINAL_INSTANT);
        expect(batched.effects).toEqual(one.effects);
        expect(viewOfState(batched.state)).toEqual(viewOfState(one.state));
        expect(one.state).toSatisfy(isPlainJson);
        coverage.addModel(given);
        coverage.addOperations(sequence);
        coverage.addEffects(one.effects);
      }),
    );
  });
});

/** The run with one operation at a time, and for each operation the last instant at which a tick may precede it. */
function oneAtATime(run: Run, sequence: Operation[]): { one: Run; limits: number[] } {
  const limits = sequence.map((operation) => {
    const limit = tickLimit(run, operation);
    run.take([operation]);
    return limit;
  });
  run.tick(FINAL_INSTANT);
  for (let i = limits.length - 2; i >= 0; i--) limits[i] = Math.min(limits[i]!, limits[i + 1]!);
  return { one: run, limits };
}
