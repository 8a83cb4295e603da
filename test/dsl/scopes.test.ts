import {
  type Comparisons,
  type Condition,
  daysSince,
  event,
  journey,
  number,
  oneOf,
  type Quantity,
  scale,
  step,
} from "svc-success";
import fc from "fast-check";
import { expect, test } from "vitest";

import { NODE, SCORE } from "../../src/dsl/part.js";

const order = event("order", { total: number(), source: oneOf("web", "api") });
const onboarding = journey("onboarding", { start: order.happened(), steps: [step("pay", order.happened())] });

const occurrences = fc.constantFrom(
  order,
  order.where((p) => p.total.atLeast(5)),
);
const read = fc.constantFrom<
  (of: Pick<typeof order, "count" | "sum" | "avg" | "min" | "max" | "distinct">) => Quantity
>(
  (of) => of.count(),
  (of) => of.sum("total"),
  (of) => of.avg("total"),
  (of) => of.min("total"),
  (of) => of.max("total"),
  (of) => of.distinct("source"),
);
const comparison = fc.constantFrom<keyof Comparisons<Condition>>(
  "atLeast",
  "atMost",
  "moreThan",
  "lessThan",
  "equals",
  "notEquals",
);
const scope = fc.constantFrom<["within", "7d"] | ["since", "state" | typeof onboarding]>(
  ["within", "7d"],
  ["since", "state"],
  ["since", onboarding],
);

test("a scope means the same before and after the comparison", () => {
  fc.assert(
    fc.property(occurrences, read, comparison, scope, fc.nat(), (of, make, compare, [kind, argument], value) => {
      const before = make(of);
      const scoped = kind === "within" ? before.within(argument) : before.since(argument);
      const compared = make(of)[compare](value);
      const after = kind === "within" ? compared.within(argument) : compared.since(argument);
      expect(after[NODE]).toEqual(scoped[compare](value)[NODE]);
    }),
  );
});

test("building a condition does not change the measure it is built from", () => {
  fc.assert(
    fc.property(occurrences, read, scope, (of, make, [kind, argument]) => {
      const total = make(of);
      const score = () => scale(total, { from: 0, to: 9 })[SCORE];
      const untouched = score();
      const narrowed = kind === "within" ? total.within(argument) : total.since(argument);
      narrowed.atLeast(3);
      expect(score()).toEqual(untouched);
    }),
  );
  const days = daysSince(order);
  expect(days.atLeast(3)[NODE]).toEqual(days.atLeast(3)[NODE]);
});
