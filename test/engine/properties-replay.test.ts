import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { replay } from "../../src/engine/index.js";
import { FINAL_INSTANT, inOrder, operations, snapshot } from "./support/arbitrary.js";
import { compile } from "./support/builders.js";
import { CLASSES, expectMet, inOrder as effectsInOrder, lastRuns } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { replayed } from "./support/reference/replay.js";
import { check, Coverage, Run, timeout, withHistory } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";
import { viewOfReference } from "./support/subject-reference.js";

describe("a replay from zero", () => {
  it("ends as live evaluation in order did", { timeout }, () => {
    const coverage = new Coverage();
    check(
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
    const applicable = CLASSES.filter((name) => !["identify that removes", "segmentExited by identify"].includes(name));
    expectMet("replay of what came in order", coverage, applicable);
  });

  it("of what came in any order is as a plain reading of the rules says", { timeout }, () => {
    const coverage = new Coverage();
    check(
      fc.property(snapshot, operations, (given, sequence) => {
        const { run, createdAt, replayed: after } = replayOf(given, sequence);
        // An identify that changes nothing creates a customer and evaluates nothing: a replay cannot know when that began.
        const { firstEvaluatedAt: began } = run.state;
        const first = run.evaluated()[0]?.occurredAt ?? Infinity;
        if (began === null || (began !== createdAt && began < first)) return coverage.add("left out");
        const reference = new Reference("c1", given);
        for (const operation of sequence) reference.take(operation);
        reference.catchUp(FINAL_INSTANT);
        const { applied: events, firstEvaluatedAt, traits, lastEventAt } = reference.customer;
        const { traitsChangedAt } = reference;
        const past = { customerId: "c1", createdAt, firstEvaluatedAt, traits, traitsChangedAt, lastEventAt, events };
        const expected = replayed(given, { ...past, through: FINAL_INSTANT });
        expect(viewOfState(after.state)).toEqual(viewOfReference(expected));
        expect(effectsInOrder(after.effects)).toEqual(effectsInOrder(expected.customer.effects));
        expect(lastRuns(after.effects)).toEqual(lastRuns(expected.customer.effects));
        coverage.addOperations(sequence);
        coverage.addEffects(run.effects);
      }),
    );
    expectMet("replay of what came in any order", coverage, ["late", "future", "identify that removes"]);
  });
});

/** Live evaluation one operation at a time, and the replay of its events through the final instant. */
function replayOf(given: Parameters<typeof compile>[0], sequence: Parameters<Run["take"]>[0]) {
  const model = compile(given);
  const createdAt = sequence[0]!.acceptedAt;
  const customer = { customerId: "c1", createdAt };
  const run = new Run(model, "whole", customer);
  for (const operation of sequence) run.take([operation]);
  run.tick(FINAL_INSTANT);
  const { firstEvaluatedAt, traits, traitsChangedAt, lastEventAt } = run.state;
  const events = run.evaluated();
  const past = { ...customer, firstEvaluatedAt, traits, traitsChangedAt, lastEventAt, through: FINAL_INSTANT };
  return {
    run,
    createdAt,
    replayed: withHistory(events, "whole", [], (history) => replay(model, { ...past, events, history })),
  };
}
