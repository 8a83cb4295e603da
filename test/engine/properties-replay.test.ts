import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { corrections } from "../../src/engine/index.js";
import { FINAL_INSTANT, inOrder, operations, snapshot } from "./support/arbitrary.js";
import { CLASSES, checkUntilMet, inOrder as effectsInOrder, lastRuns } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { replayed } from "./support/reference/replay.js";
import { replayedInParts, replayOf } from "./support/replays.js";
import { check, Coverage, timeout } from "./support/runner.js";
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

  it("of operations in any order ends as a plain reading of the rules says", { timeout }, () => {
    const coverage = new Coverage();
    checkUntilMet(
      "replay of what came in any order",
      { coverage, classes: ["late", "future", "identify that removes"] },
      fc.property(snapshot, operations, (given, sequence) => {
        const { run, createdAt, replayed: after } = replayOf(given, sequence);
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
      }),
    );
  });

  it("ends the same however the history is split into parts", { timeout }, () => {
    let parted = 0;
    const counts = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 });
    check(
      fc.property(snapshot, operations, counts, (given, sequence, sizes) => {
        const { run, model, replayed } = replayOf(given, sequence);
        if (run.evaluated().length > (sizes[0] ?? Infinity)) parted++;
        const inParts = replayedInParts(run, model, (events, part) => {
          const size = sizes[part] ?? events.length;
          return { events: events.slice(0, size), through: size >= events.length ? FINAL_INSTANT : null };
        });
        expect(inParts).toEqual(replayed);
      }),
    );
    expect(parted).toBeGreaterThan(100);
  });

  it("of a customer who was replayed before ends the same", { timeout }, () => {
    check(
      fc.property(snapshot, operations, (given, sequence) => {
        const { run, model, replayed: first } = replayOf(given, sequence);
        const second = replay(model, { ...first.state, events: run.evaluated(), through: FINAL_INSTANT });
        expect(second).toEqual(first);
        expect(corrections(first.state, second.state, { at: FINAL_INSTANT, jobId: "job" })).toEqual([]);
      }),
    );
  });
});
