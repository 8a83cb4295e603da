import {
  activeWithin,
  all,
  any,
  array,
  boolean,
  type Condition,
  date,
  daysSince,
  daysSinceFirst,
  event,
  health,
  inactiveFor,
  inState,
  journey,
  lifecycle,
  not,
  number,
  oneOf,
  type PropertyCondition,
  scale,
  segment,
  sequence,
  step,
  string,
  traits,
} from "svc-success";
import { expect, test } from "vitest";

import { NODE } from "../../src/dsl/part.js";

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

test.each<[node: object, question: Condition]>([
  [{ kind: "count", of, operator: "gte", value: 1 }, order.happened()],
  [{ kind: "count", of, within: "7d", operator: "gte", value: 1 }, order.happened().within("7d")],
  [{ kind: "count", of, operator: "eq", value: 0 }, order.never()],
  [{ kind: "count", of, since: "state", operator: "eq", value: 0 }, order.never().since("state")],
  [{ kind: "count", of, operator: "gt", value: 3 }, order.count().moreThan(3)],
  [{ kind: "count", of, within: "1h", operator: "lte", value: 3 }, order.count().within("1h").atMost(3)],
  [
    { kind: "count", of, since: { journey: "onboarding" }, operator: "eq", value: 3 },
    order.count().since(onboarding).equals(3),
  ],
  [
    { kind: "aggregate", function: "sum", of, property: "seats", within: "90d", operator: "gte", value: 3 },
    order.sum("seats").within("90d").atLeast(3),
  ],
  [
    { kind: "aggregate", function: "avg", of, property: "seats", since: "state", operator: "ne", value: 3 },
    order.avg("seats").notEquals(3).since("state"),
  ],
  [
    { kind: "count", of, within: "7d", previous: true, operator: "gte", value: 3 },
    order.count().within("7d").previous().atLeast(3),
  ],
  [
    {
      kind: "ratio",
      of: { kind: "distinct", of, property: "name", within: "30d" },
      per: { kind: "trait", trait: "seats" },
      operator: "lt",
      value: 0.5,
    },
    order.distinct("name").within("30d").per(customer.seats).lessThan(0.5),
  ],
  [
    {
      kind: "ratio",
      of: {
        kind: "difference",
        of: { kind: "aggregate", function: "sum", of, property: "seats" },
        minus: { kind: "trait", trait: "seats" },
      },
      per: { kind: "latest", of, property: "seats", since: "state" },
      operator: "ne",
      value: -1,
    },
    order.sum("seats").minus(customer.seats).per(order.latest("seats").since("state")).notEquals(-1),
  ],
  [
    { kind: "aggregate", function: "min", of, property: "seats", operator: "lt", value: 3 },
    order.min("seats").lessThan(3),
  ],
  [
    { kind: "aggregate", function: "max", of, property: "seats", operator: "lte", value: 3 },
    order.max("seats").atMost(3),
  ],
  [
    { kind: "distinct", of, property: "plan", within: "1d", operator: "gte", value: 2 },
    order.distinct("plan").atLeast(2).within("1d"),
  ],
  [
    { kind: "latest", of, property: "plan", since: { journey: "onboarding" }, operator: "in", value: ["pro"] },
    order.latest("plan").in("pro").since(onboarding),
  ],
  [
    { kind: "latest", of, property: "day", within: "1d", operator: "gte", value: "2026-01-01" },
    order.latest("day").within("1d").onOrAfter("2026-01-01"),
  ],
  [{ kind: "latestExists", of, property: "name", within: "1d" }, order.latest("name").exists().within("1d")],
  [
    { kind: "not", condition: { kind: "latestExists", of, property: "name", within: "1d" } },
    order.latest("name").within("1d").missing(),
  ],
  [{ kind: "daysSince", which: "last", of, operator: "gt", value: 7 }, daysSince(order).moreThan(7)],
  [{ kind: "daysSince", which: "first", of, operator: "eq", value: 0 }, daysSinceFirst(order).equals(0)],
  [{ kind: "sequence", first: of, then: of, within: "7d" }, sequence(order, order).within("7d")],
  [
    { kind: "sequence", first: of, then: of, within: "7d", since: { journey: "onboarding" } },
    sequence(order, order).within("7d").since(onboarding),
  ],
  [{ kind: "trait", trait: "plan", operator: "eq", value: "pro" }, customer.plan.is("pro")],
  [{ kind: "trait", trait: "plan", operator: "notIn", value: ["pro"] }, customer.plan.notIn("pro")],
  [{ kind: "trait", trait: "seats", operator: "lt", value: 3 }, customer.seats.lessThan(3)],
  [{ kind: "traitExists", trait: "name" }, customer.name.exists()],
  [{ kind: "not", condition: { kind: "traitExists", trait: "name" } }, customer.name.missing()],
  [{ kind: "traitDateWithin", trait: "day", within: "5d" }, customer.day.within("5d")],
  [{ kind: "traitDatePassed", trait: "day" }, customer.day.passed()],
  [{ kind: "traitDatePassed", trait: "day", by: "5d" }, customer.day.passed("5d")],
  [{ kind: "trait", trait: "day", operator: "ne", value: "2026-01-01" }, customer.day.isNot("2026-01-01")],
  [{ kind: "trait", trait: "day", operator: "lt", value: "2026-01-01" }, customer.day.before("2026-01-01")],
  [{ kind: "inactiveFor", duration: "21d" }, inactiveFor("21d")],
  [{ kind: "activeWithin", duration: "3d" }, activeWithin("3d")],
  [{ kind: "inState", atLeast: "60d" }, inState().atLeast("60d")],
  [{ kind: "lifecycle", states: ["b"] }, stages.is("b")],
  [{ kind: "not", condition: { kind: "lifecycle", states: ["b"] } }, stages.isNot("b")],
  [{ kind: "segment", segment: "group" }, group.has()],
  [{ kind: "journey", journey: "onboarding", statuses: ["active"] }, onboarding.is("active")],
  [{ kind: "journeyStep", journey: "onboarding", step: "pay", is: "current" }, onboarding.atStep("pay")],
  [{ kind: "journeyStep", journey: "onboarding", step: "pay", is: "completed" }, onboarding.completed("pay")],
  [{ kind: "health", operator: "gte", value: 70 }, score.overall.atLeast(70)],
  [{ kind: "health", component: "use", operator: "lt", value: 7.5 }, score.component("use").lessThan(7.5)],
  [{ kind: "healthBand", bands: ["bad"] }, score.band.is("bad")],
  [
    {
      kind: "any",
      conditions: [
        {
          kind: "all",
          conditions: [
            { kind: "segment", segment: "group" },
            { kind: "lifecycle", states: ["a", "b"] },
          ],
        },
        { kind: "not", condition: { kind: "inactiveFor", duration: "1d" } },
      ],
    },
    any(all(group.has(), stages.in("a", "b")), not(inactiveFor("1d"))),
  ],
])("a condition becomes %j", (node, condition) => {
  expect(condition[NODE]).toEqual(node);
});

test("every condition on a property becomes its node", () => {
  const asked: PropertyCondition[] = [];
  order.where((p) => {
    asked.push(
      p.seats.equals(1),
      p.paid.isNot(true),
      p.day.after("2026-01-01"),
      p.tags.contains("x"),
      p.name.missing(),
    );
    return all(...asked);
  });
  expect(asked.map((condition) => condition[NODE])).toEqual([
    { kind: "compare", property: "seats", operator: "eq", value: 1 },
    { kind: "compare", property: "paid", operator: "ne", value: true },
    { kind: "compare", property: "day", operator: "gt", value: "2026-01-01" },
    { kind: "compare", property: "tags", operator: "contains", value: "x" },
    { kind: "not", condition: { kind: "exists", property: "name" } },
  ]);
});

test("a filter becomes part of the count that follows it", () => {
  const large = order.where((p) => p.seats.atLeast(5));
  expect(large.count().atLeast(3).within("30d")[NODE]).toEqual({
    kind: "count",
    of: { event: "order placed", where: { kind: "compare", property: "seats", operator: "gte", value: 5 } },
    within: "30d",
    operator: "gte",
    value: 3,
  });
});

test("fields keep their declaration, and traits are never marked optional", () => {
  const declared = { name: string().optional(), plan: oneOf("a", "b"), tags: array(oneOf("x")) };
  expect(event("e", declared)[NODE].properties).toEqual({
    name: { type: "string", optional: true },
    plan: { type: "string", enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string", enum: ["x"] } },
  });
  expect(traits(declared)[NODE]).toEqual({
    name: { type: "string" },
    plan: { type: "string", enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string", enum: ["x"] } },
  });
});
