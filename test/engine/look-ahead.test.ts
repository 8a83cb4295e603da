import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { TrackOperation } from "../../src/engine/index.js";
import type { CalculatedMeasure, Measure, OrderOperator } from "../../src/model/snapshot/types.js";
import { compared, compile, minus, number, per, seen, snapshotOf } from "./support/builders.js";
import { expectEqual } from "./support/equal.js";
import { Reference } from "./support/reference/reference.js";
import { check, Run, timeout } from "./support/runner.js";

const HOUR = 3_600_000;

const windowed = fc
  .record({
    path: fc.constantFrom<Parameters<typeof number>[0]>("a", "b", ["a", "x"], ["b", "x"]),
    within: fc.constantFrom("6h", "1d"),
    previous: fc.boolean(),
  })
  .map(({ path, within, previous }): Measure => number(path, { within, ...(previous && { previous }) }));
const distinct: fc.Arbitrary<Measure> = fc.record({
  kind: fc.constant("distinct"),
  of: fc.constant({ event: "a" }),
  property: fc.constant("x"),
  within: fc.constantFrom("6h", "1d"),
});
const average = fc
  .record({ within: fc.constantFrom("6h", "1d"), previous: fc.boolean() })
  .map(({ within, previous }): Measure => {
    return {
      kind: "aggregate",
      function: "avg",
      of: { event: "a" },
      property: "x",
      within,
      ...(previous && { previous }),
    };
  });
const operand = fc.oneof(windowed, windowed, windowed, distinct, average);
const calculated: fc.Arbitrary<CalculatedMeasure> = fc
  .record({ of: operand, other: operand, minus: fc.option(operand, { nil: null }), isRatio: fc.boolean() })
  .map(({ of, other, minus: less, isRatio }) => {
    const whole = less === null ? of : minus(of, less);
    return isRatio ? per(whole, other) : minus(whole, other);
  });
const operator = fc.constantFrom<OrderOperator>("lt", "lte", "gt", "gte", "eq", "ne");
const event = fc.record({
  name: fc.constantFrom("a", "a", "b"),
  gap: fc.constantFrom(0, 1, 1, 2, 5, 14),
  late: fc.constantFrom(0, 0, 0, 3, 8, 20),
  x: fc.constantFrom(0, 1, 1, 2, 0.5, -1),
});

describe("the search for the next change of a ratio or a difference", () => {
  it("goes on while events come as one that begins with each of them", { timeout }, () => {
    check(
      fc.property(
        calculated,
        operator,
        fc.constantFrom(0, 0.5, 1, 2, 3),
        fc.constantFrom(true, false),
        fc.array(event, { minLength: 10, maxLength: 60 }),
        (measure, operator, value, isPositive, drafts) => {
          const given = snapshotOf({ segments: { s: compared(measure, operator, value) } });
          let now = 0;
          const operations = drafts.map(({ name, gap, late, x }, i): TrackOperation => {
            now += gap * HOUR;
            const occurredAt = now - late * HOUR;
            return { ...seen(i + 1, occurredAt, name, { x: isPositive ? Math.abs(x) : x }), acceptedAt: now };
          });
          const model = compile(given);
          const [one, parted] = [new Run(model), new Run(model, "pages")];
          const reference = new Reference("c1", given);
          one.take(operations);
          for (const operation of operations) {
            parted.take([operation]);
            reference.take(operation);
          }
          expect(one.state.nextDueAt).toBe(parted.state.nextDueAt);
          for (const run of [one, parted]) run.tick(now + 48 * HOUR);
          reference.catchUp(now + 48 * HOUR);
          expect(one.effects).toEqual(parted.effects);
          expectEqual(one, reference);
        },
      ),
    );
  });
});
