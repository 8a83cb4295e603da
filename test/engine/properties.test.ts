import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evaluateAt } from "../../src/engine/evaluation.js";
import type { Effect } from "../../src/engine/index.js";
import { OpenCustomer } from "../../src/engine/open-customer.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { compile } from "./support/builders.js";
import { CLASSES, expectEqual, checkUntilMet } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { Coverage, Run, timeout, withHistory } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const HOUR = 3_600_000;
const history = fc.constantFrom("whole" as const, "pages" as const);

describe("random models and operations", () => {
  it("end as a plain reading of the rules says, after every step", { timeout }, () => {
    const coverage = new Coverage();
    const between = fc.array(fc.constantFrom("none", "none", "none", "tick", "version"), { maxLength: 12 });
    checkUntilMet(
      "against the reference",
      { coverage, classes: [...CLASSES, "version change", "history request, pages"] },
      fc.property(snapshot, snapshot, operations, between, history, (first, second, given, steps, history) => {
        const run = new Run(compile(first), history);
        const reference = new Reference("c1", first);
        let present = first;
        given.forEach((operation, i) => {
          run.take([operation]);
          reference.take(operation);
          expectEqual(run, reference);
          if (steps[i] === "tick") {
            run.tick(operation.acceptedAt);
            reference.catchUp(operation.acceptedAt);
          } else if (steps[i] === "version") {
            present = present === first ? second : first;
            run.changeVersion(compile(present));
            reference.changeVersion(present);
            coverage.add("version change");
          } else return;
          expectEqual(run, reference);
        });
        run.tick(FINAL_INSTANT);
        reference.catchUp(FINAL_INSTANT);
        expectEqual(run, reference);
        coverage.addModel(first);
        coverage.addOperations(given);
        coverage.addEffects(run.effects);
        coverage.add(`history request, ${history}`, run.requests.length);
      }),
    );
  });

  it("change nothing but the clock at an instant before anything is due", { timeout }, () => {
    const coverage = new Coverage();
    checkUntilMet(
      "before the due instant",
      {
        coverage,
        classes: [
          ...["in between", "at the last instant before", "flapping lifecycle, left out", "flapping journey, left out"],
          ...["journey by event", "health by event", "segmentEntered by timer"],
        ],
      },
      fc.property(snapshot, operations, fc.nat(), fc.boolean(), (given, sequence, seed, justBefore) => {
        const model = compile(given);
        const run = new Run(model);
        const reference = new Reference("c1", given);
        run.take(sequence);
        for (const operation of sequence) reference.take(operation);
        const { evaluatedThrough, nextDueAt } = run.state;
        // A merged identify is not evaluated yet: anything before its due instant already sees the new traits.
        if (evaluatedThrough === null || run.state.traitsDueAt.length > 0) return coverage.add("not applicable");
        if (isBlocked(run.effects, evaluatedThrough)) return coverage.add("flapping lifecycle, left out");
        if (reference.customer.hasBlockedJourney) return coverage.add("flapping journey, left out");
        const last = (nextDueAt ?? evaluatedThrough + 100 * HOUR) - 1;
        if (last <= evaluatedThrough) return coverage.add("due at once");
        const instant = justBefore ? last : evaluatedThrough + 1 + (seed % (last - evaluatedThrough));
        const after = withHistory(run.evaluated(), "whole", [], (source) => {
          const customer = new OpenCustomer(model, run.state, source);
          customer.dirty.fill(1);
          evaluateAt(customer, instant, "timer");
          return customer;
        });
        expect(after.effects).toEqual([]);
        expect(after.timerDueAt).toBe(run.state.timerDueAt ?? Infinity);
        const state = after.toState(nextDueAt ?? Infinity);
        expect(viewOfState(state)).toEqual({ ...viewOfState(run.state), evaluatedThrough: instant });
        coverage.add(justBefore ? "at the last instant before" : "in between");
        coverage.addEffects(run.effects);
      }),
    );
  });
});

function isBlocked(effects: Effect[], clock: number): boolean {
  return effects.some((effect) => effect.kind === "blocked" && effect.at === clock);
}
