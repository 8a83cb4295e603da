import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Operation } from "../../src/engine/index.js";
import { operations, snapshot, START } from "./support/arbitrary.js";
import { compile } from "./support/builders.js";
import { checkUntilMet } from "./support/equal.js";
import { Coverage, Run, timeout } from "./support/runner.js";
import { viewOfState } from "./support/subject-engine.js";

const HOUR = 3_600_000;
const SHORT = 40;
const LONG = 4 * SHORT;
/** Long histories are slow: only one run in EACH has one. */
const EACH = 20;
/** The windows of sums keep their oldest 32 occurrences and read the rest; thresholds here are at most 3, distinct values few. */
const REMEMBERED_MAX = 80;

describe("memory", () => {
  it("is bounded by the model, not by the history", { timeout }, () => {
    const coverage = new Coverage();
    // Requests for history are rare with these periods; the next property is about them.
    checkUntilMet(
      "memory",
      { coverage, classes: ["aggregates", "late"] },
      fc.property(snapshot, operations, fc.constantFrom(1, 6), (given, pattern, hours) => {
        coverage.add("run");
        if (coverage.of("run") % EACH !== 0) return;
        const run = new Run(compile(given));
        const history = repeated(pattern, hours * HOUR);
        for (const operation of history.slice(0, SHORT)) run.take([operation]);
        const short = size(run);
        for (const operation of history.slice(SHORT)) run.take([operation]);
        const long = size(run);
        const { streams, aggregates } = run.state.memory;
        for (const memory of [...streams, ...aggregates]) {
          expect(longestArray(memory)).toBeLessThanOrEqual(REMEMBERED_MAX);
        }
        // Numbers grow longer, and an empty buffer may fill up: bounded by a constant for each stream and aggregate.
        expect(long - short).toBeLessThanOrEqual(4_000 * (1 + streams.length + aggregates.length));
        coverage.add(aggregates.length > 0 ? "aggregates" : "streams only");
        coverage.add("history request", run.requests.length);
        coverage.addOperations(history);
      }),
    );
  });

  it("does not affect results: a paged history gives the same as the whole history", { timeout }, () => {
    const coverage = new Coverage();
    checkUntilMet(
      "pages",
      { coverage, classes: ["page"] },
      fc.property(snapshot, operations, (given, pattern) => {
        coverage.add("run");
        if (coverage.of("run") % EACH !== 0) return;
        const model = compile(given);
        const history = repeated(pattern, HOUR / 12);
        const [whole, pages] = (["whole", "pages"] as const).map((kind) => {
          const run = new Run(model, kind);
          for (let i = 0; i < history.length; i += 7) run.take(history.slice(i, i + 7));
          return run;
        }) as [Run, Run];
        expect(viewOfState(pages.state)).toEqual(viewOfState(whole.state));
        expect(pages.effects).toEqual(whole.effects);
        coverage.add("page", pages.requests.length);
      }),
    );
  });
});

/** A long history: the pattern repeated, one operation per period. */
function repeated(pattern: readonly Operation[], period: number): Operation[] {
  return Array.from({ length: LONG }, (_, i): Operation => {
    const operation = pattern[i % pattern.length]!;
    const seq = i + 1;
    const acceptedAt = START + i * period;
    if (operation.kind === "identify") return { ...operation, seq, acceptedAt };
    const shift = Math.min(0, operation.occurredAt - operation.acceptedAt);
    return { ...operation, seq, eventId: `e${seq}`, acceptedAt, occurredAt: acceptedAt + shift };
  });
}

function size(run: Run): number {
  return JSON.stringify(run.state).length;
}

function longestArray(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Math.max(own, ...Object.values(value).map(longestArray));
}
