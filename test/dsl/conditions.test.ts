import {
  activeWithin,
  all,
  any,
  type Condition,
  daysSince,
  daysSinceFirst,
  event,
  inactiveFor,
  array,
  boolean,
  date,
  number,
  oneOf,
  string,
  traits,
  type PropertyCondition,
  health,
  inState,
  journey,
  lifecycle,
  not,
  scale,
  segment,
  sequence,
  step,
} from "svc-success";
import { expect, test } from "vitest";

import { LOWER, NODE } from "../../src/dsl/part.js";

const fields = {
  name: string(),
  plan: oneOf("free", "pro"),
  seats: number(),
  paid: boolean(),
  day: date(),
  tags: array(string()),
};
const order = event("order placed", fields);
const customer = traits(fields);
const stages = lifecycle({ initial: "a", states: { a: { to: { b: order.happened() } }, b: { terminal: true } } });
const group = segment("group");
const onboarding = journey("onboarding", { start: order.happened(), steps: [step("pay", order.happened())] });
const score = health({
  components: { use: { weight: 1, score: scale(order.count(), { from: 0, to: 9 }) } },
  bands: { good: 50, bad: 0 },
});

const of = { event: "order placed" };
const counted = (operator: string, value: number, scope = {}) => ({ kind: "count", of, ...scope, operator, value });
const read = (kind: string, property: string, more: object) => ({ kind, of, property, ...more });
const asked = (trait: string, operator: string, value: unknown) => ({ kind: "trait", trait, operator, value });
const negated = (condition: object) => ({ kind: "not", condition });
const both = { kind: "all", conditions: [{ kind: "segment", segment: "group" }, { kind: "lifecycle", states: ["a", "b"] }] }; // oxfmt-ignore

test.each<[node: object, question: Condition]>([
  [counted("gte", 1), order.happened()],
  [counted("gte", 1, { within: "7d" }), order.happened().within("7d")],
  [counted("eq", 0), order.never()],
  [counted("eq", 0, { since: "state" }), order.never().since("state")],
  [counted("gt", 3), order.count().moreThan(3)],
  [counted("eq", 3, { since: { journey: "onboarding" } }), order.count().since(onboarding).equals(3)],
  [counted("gte", 3, { within: "7d", previous: true }), order.count().within("7d").previous().atLeast(3)],
  [
    read("aggregate", "seats", { function: "sum", within: "90d", operator: "gte", value: 3 }),
    order.sum("seats").within("90d").atLeast(3),
  ],
  [
    read("aggregate", "seats", { function: "avg", since: "state", operator: "ne", value: 3 }),
    order.avg("seats").notEquals(3).since("state"),
  ],
  [read("aggregate", "seats", { function: "min", operator: "lt", value: 3 }), order.min("seats").lessThan(3)],
  [read("aggregate", "seats", { function: "max", operator: "lte", value: 3 }), order.max("seats").atMost(3)],
  [
    {
      kind: "ratio",
      of: {
        kind: "difference",
        of: read("aggregate", "seats", { function: "sum" }),
        minus: { kind: "trait", trait: "seats" },
      },
      per: read("latest", "seats", { since: "state" }),
      operator: "ne",
      value: -1,
    },
    order.sum("seats").minus(customer.seats).per(order.latest("seats").since("state")).notEquals(-1),
  ],
  [
    read("distinct", "plan", { within: "1d", operator: "gte", value: 2 }),
    order.distinct("plan").atLeast(2).within("1d"),
  ],
  [
    read("latest", "plan", { since: { journey: "onboarding" }, operator: "in", value: ["pro"] }),
    order.latest("plan").in("pro").since(onboarding),
  ],
  [
    read("latest", "day", { within: "1d", operator: "gte", value: "2026-01-01" }),
    order.latest("day").within("1d").onOrAfter("2026-01-01"),
  ],
  [read("latestExists", "name", { within: "1d" }), order.latest("name").exists().within("1d")],
  [negated(read("latestExists", "name", { within: "1d" })), order.latest("name").within("1d").missing()],
  [{ kind: "daysSince", which: "last", of, operator: "gt", value: 7 }, daysSince(order).moreThan(7)],
  [{ kind: "daysSince", which: "first", of, operator: "eq", value: 0 }, daysSinceFirst(order).equals(0)],
  [
    { kind: "sequence", first: of, then: of, within: "7d", since: { journey: "onboarding" } },
    sequence(order, order).within("7d").since(onboarding),
  ],
  [asked("plan", "eq", "pro"), customer.plan.is("pro")],
  [asked("plan", "notIn", ["pro"]), customer.plan.notIn("pro")],
  [asked("seats", "lt", 3), customer.seats.lessThan(3)],
  [asked("day", "ne", "2026-01-01"), customer.day.isNot("2026-01-01")],
  [asked("day", "lt", "2026-01-01"), customer.day.before("2026-01-01")],
  [{ kind: "traitExists", trait: "name" }, customer.name.exists()],
  [negated({ kind: "traitExists", trait: "name" }), customer.name.missing()],
  [{ kind: "traitDateWithin", trait: "day", within: "5d" }, customer.day.within("5d")],
  [{ kind: "traitDatePassed", trait: "day" }, customer.day.passed()],
  [{ kind: "traitDatePassed", trait: "day", by: "5d" }, customer.day.passed("5d")],
  [{ kind: "inactiveFor", duration: "21d" }, inactiveFor("21d")],
  [{ kind: "activeWithin", duration: "3d" }, activeWithin("3d")],
  [{ kind: "inState", atLeast: "60d" }, inState().atLeast("60d")],
  [{ kind: "lifecycle", states: ["b"] }, stages.is("b")],
  [negated({ kind: "lifecycle", states: ["b"] }), stages.isNot("b")],
  [{ kind: "journey", journey: "onboarding", statuses: ["active"] }, onboarding.is("active")],
  [{ kind: "journeyStep", journey: "onboarding", step: "pay", is: "current" }, onboarding.atStep("pay")],
  [{ kind: "journeyStep", journey: "onboarding", step: "pay", is: "completed" }, onboarding.completed("pay")],
  [{ kind: "health", operator: "gte", value: 70 }, score.overall.atLeast(70)],
  [{ kind: "health", component: "use", operator: "lt", value: 7.5 }, score.component("use").lessThan(7.5)],
  [{ kind: "healthBand", bands: ["bad"] }, score.band.is("bad")],
  [
    { kind: "any", conditions: [both, negated({ kind: "inactiveFor", duration: "1d" })] },
    any(all(group.has(), stages.in("a", "b")), not(inactiveFor("1d"))),
  ],
])("a condition becomes %j", (node, condition) => {
  expect(condition[NODE]).toEqual(node);
});

test("every condition on a property becomes its node", () => {
  let made: PropertyCondition[] = [];
  order.where((p) => {
    made = [p.seats.equals(1), p.paid.isNot(true), p.day.after("2026-01-01"), p.tags.contains("x"), p.name.missing()];
    return all(...made);
  });
  expect(made.map((condition) => condition[NODE])).toEqual([
    { kind: "compare", property: "seats", operator: "eq", value: 1 },
    { kind: "compare", property: "paid", operator: "ne", value: true },
    { kind: "compare", property: "day", operator: "gt", value: "2026-01-01" },
    { kind: "compare", property: "tags", operator: "contains", value: "x" },
    { kind: "not", condition: { kind: "exists", property: "name" } },
  ]);
});

test("fields keep their declaration, and traits are never marked optional", () => {
  const declared = { name: string().optional(), plan: oneOf("a", "b"), tags: array(oneOf("x")) };
  expect(event("e", declared)[NODE].properties).toEqual({
    name: { type: "string", optional: true },
    plan: { type: "string", enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string", enum: ["x"] } },
  });
  expect(traits(declared)[LOWER]()).toEqual({
    name: { type: "string" },
    plan: { type: "string", enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string", enum: ["x"] } },
  });
});
