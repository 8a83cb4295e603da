import fc from "fast-check";
import { expect, test } from "vitest";

import type { LocalEngine, RequestOperation } from "../../src/local/engine.js";
import type { TestClock } from "../../src/local/clock.js";
import { propertyRuns } from "../support/property-runs.js";
import { atLeast, DAY, iso, localEngine, localModel, MINUTE, MODEL, START } from "./support/model.js";

/** A step of a run: time that passes, and then a request, unless it has no operations. */
type Step = { after: number; operations: RequestOperation[] };

const after = fc.oneof(fc.constantFrom(0, 1, MINUTE, DAY, 30 * DAY), fc.integer({ min: 0, max: 40 * DAY }));
const customerId = fc.constantFrom("a", "b", "c");
const key = fc.option(fc.constantFrom("k1", "k2", "k3", "k4"), { nil: undefined });
/** Event times: now, late, very late, and in the future. */
const offset = fc.option(fc.integer({ min: -60 * DAY, max: 2 * DAY }), { nil: undefined });

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ customerId, event: fc.constantFrom("signed_up", "project_created"), key, offset }),
  },
  { weight: 1, arbitrary: fc.record({ customerId, plan: fc.constantFrom("free", "pro", null) }) },
);

/** Timestamps are relative to the instant of the request, which depends on its position in the run. */
const steps = fc
  .array(fc.record({ after, operations: fc.array(operation, { maxLength: 5 }) }), { minLength: 1, maxLength: 12 })
  .map((list) => {
    let now = START;
    return list.map(({ after, operations }): Step => {
      now += after;
      return { after, operations: operations.map((each) => requestOperation(each, now)) };
    });
  });

function requestOperation(
  each: typeof operation extends fc.Arbitrary<infer T> ? T : never,
  now: number,
): RequestOperation {
  if ("plan" in each) return { type: "identify", customerId: each.customerId, traits: { plan: each.plan } };
  return {
    customerId: each.customerId,
    event: each.event,
    properties: each.event === "project_created" ? { seats: 1 } : {},
    ...(each.offset === undefined ? {} : { timestamp: iso(now + each.offset) }),
    ...(each.key === undefined ? {} : { idempotencyKey: each.key }),
  };
}

/** Performs a step; returns whether its operations were accepted. */
function perform({ engine, clock }: { engine: LocalEngine; clock: TestClock }, { after, operations }: Step): boolean {
  clock.moveTo(clock.now() + after);
  engine.advance();
  if (operations.length === 0) return false;
  try {
    engine.accept(operations, "batch");
    return true;
  } catch {
    return false; // a key that was used with another payload
  }
}

/** The visible state of all customers, without emission ids: these are numbered across customers, in the order of evaluation. */
function visibleState(engine: LocalEngine): unknown {
  return engine.population.customerIds.map((id) => [
    engine.document(id),
    engine.population.timeline(id).map(({ id: _, ...entry }) => entry),
  ]);
}

test("repeating any accepted request with its keys changes nothing", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const subject = localEngine();
      let position = 0;
      for (const step of list) {
        // Every event has a key, so that a repetition is recognized; identifies can only be repeated immediately without effect.
        const operations = step.operations
          .filter((each) => each.type !== "identify")
          .map((each) => ({ ...each, idempotencyKey: each.idempotencyKey ?? `own ${position++}` }));
        if (!perform(subject, { after: step.after, operations })) continue;
        const before = visibleState(subject.engine);
        const repeated = subject.engine.accept(operations, "batch");
        expect(repeated.outcomes.every(({ duplicate }) => duplicate)).toBe(true);
        expect(visibleState(subject.engine)).toEqual(before);
      }
    }),
    { numRuns: propertyRuns(60) },
  );
});

test("a refused request changes nothing", () => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 5 }), (list, position) => {
      const subject = localEngine();
      for (const step of list) {
        perform(subject, step);
        const before = visibleState(subject.engine);
        const bad = [...step.operations];
        bad.splice(position % (bad.length + 1), 0, { customerId: "z", event: "unheard_of" });
        expect(() => subject.engine.accept(bad, "batch")).toThrow();
        expect(visibleState(subject.engine)).toEqual(before);
      }
    }),
    { numRuns: propertyRuns(40) },
  );
});

test("replacing the model gives the same state as having it from the beginning", () => {
  const other = localModel({
    ...MODEL,
    segments: [{ id: "busy", when: atLeast("project_created", 1, "7d") }],
    journeys: [],
  });
  fc.assert(
    fc.property(steps, (list) => {
      const replaced = localEngine();
      const fresh = localEngine(other.snapshot);
      for (const step of list) for (const subject of [replaced, fresh]) perform(subject, step);
      replaced.engine.replaceModel(other);
      expect(visibleState(replaced.engine)).toEqual(visibleState(fresh.engine));
    }),
    { numRuns: propertyRuns(60) },
  );
});
