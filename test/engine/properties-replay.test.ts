import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { corrections } from "../../src/engine/index.js";
import { FINAL_INSTANT, inOrder, operations, snapshot } from "./support/arbitrary.js";
import { CLASSES, checkUntilMet, inOrder as effectsInOrder, lastRuns } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { replayed } from "./support/reference/replay.js";
import { replayedInParts, replayOf } from "./support/replays.js";
import { Coverage, ofInstants, runs, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";
import { viewOfReference } from "./support/subject-reference.js";
import { replay } from "./support/whole-history.js";

describe("a replay from zero", () => {
  it("ends as live evaluation in order did", { timeout }, () => {
    const coverage = new Coverage();
    const applicable = CLASSES.filter((name) => !["identify that removes", "segmentExited by identify"].includes(name));
    checkUntilMet(
      "replay of what came in order",
      { coverage, classes: applicable },
      fc.property(snapshot, inOrder, (given, sequence) => {
        if (sequence.length === 0) return;
        const { run, replayed } = replayOf(given, sequence);
        expect(viewOfState(replayed.state)).toEqual(viewOfState(run.state));
        expect(effectsInOrder(replayed.effects)).toEqual(effectsInOrder(run.effects));
        coverage.addModel(given);
        coverage.addOperations(sequence);
        coverage.addEffects(run.effects);
      }),
    );
  });

  it(
    "of operations in any order ends as a plain reading of the rules says, also in parts, within budgets and again",
    { timeout },
    () => {
      const coverage = new Coverage();
      let parts = 0;
      const small = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 });
      checkUntilMet(
        "replay of what came in any order",
        { coverage, classes: ["late", "future", "identify that removes"] },
        fc.property(
          snapshot,
          operations,
          small,
          fc.option(small, { nil: [Infinity] }),
          (given, sequence, sizes, budgets) => {
            const { run, model, createdAt, replayed: after } = replayOf(given, sequence);
            const inParts = replayedInParts(run, model, (events, part) => {
              parts++;
              const size = sizes[part] ?? events.length;
              const through = size >= events.length ? FINAL_INSTANT : null;
              return { events: events.slice(0, size), through, budget: ofInstants(budgets[part % budgets.length]!) };
            });
            expect(inParts).toEqual(after);
            const again = replay(model, { ...after.state, events: run.evaluated(), through: FINAL_INSTANT });
            expect(again).toEqual(after);
            expect(corrections(after.state, again.state, { at: FINAL_INSTANT, jobId: "job" })).toEqual([]);
            // An identify that changes nothing creates a customer but evaluates nothing: a replay cannot know its first evaluation.
            const { firstEvaluatedAt: began } = run.state;
            const first = run.evaluated()[0]?.occurredAt ?? Infinity;
            if (began === null || (began !== createdAt && began < first)) return coverage.add("left out");
            const reference = new Reference("c1", given);
            for (const operation of sequence) reference.take(operation);
            reference.catchUp(FINAL_INSTANT);
            const expected = replayed(given, reference, createdAt, FINAL_INSTANT);
            expect(viewOfState(after.state)).toEqual(viewOfReference(expected));
            expect(effectsInOrder(after.effects)).toEqual(effectsInOrder(expected.customer.effects));
            expect(lastRuns(after.effects)).toEqual(lastRuns(expected.customer.effects));
            coverage.addOperations(sequence);
            coverage.addEffects(run.effects);
          },
        ),
      );
      expect(parts).toBeGreaterThan(3 * runs);
    },
  );
});
