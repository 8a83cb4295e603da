import {
  activeWithin,
  all,
  any,
  array,
  boolean,
  date,
  event,
  inactiveFor,
  inState,
  lifecycle,
  not,
  number,
  oneOf,
} from "svc";
import { segment, string, traits } from "svc";
import type { Condition, PropertyCondition } from "svc";
import { expect, test } from "vitest";

import { NODE } from "../../src/dsl/condition.js";

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

const of = { event: "order placed" };

test.each<[string, Condition, unknown]>([
  ["happened", order.happened(), { kind: "count", of, operator: "gte", value: 1 }],
  ["happened within", order.happened().within("7d"), { kind: "count", of, within: "7d", operator: "gte", value: 1 }],
  ["never", order.never(), { kind: "count", of, operator: "eq", value: 0 }],
  [
    "never since the state",
    order.never().since("state"),
    { kind: "count", of, since: "state", operator: "eq", value: 0 },
  ],
  ["a count", order.count().moreThan(3), { kind: "count", of, operator: "gt", value: 3 }],
  [
    "a count, scope first",
    order.count().within("1h").atMost(3),
    { kind: "count", of, within: "1h", operator: "lte", value: 3 },
  ],
  [
    "a count, scope last",
    order.count().atMost(3).within("1h"),
    { kind: "count", of, within: "1h", operator: "lte", value: 3 },
  ],
  ["a trait", customer.plan.is("pro"), { kind: "trait", trait: "plan", operator: "eq", value: "pro" }],
  [
    "a trait of a list",
    customer.plan.notIn("pro"),
    { kind: "trait", trait: "plan", operator: "notIn", value: ["pro"] },
  ],
  ["a trait's order", customer.seats.lessThan(3), { kind: "trait", trait: "seats", operator: "lt", value: 3 }],
  ["a trait's presence", customer.name.exists(), { kind: "traitExists", trait: "name" }],
  ["a trait's absence", customer.name.missing(), { kind: "not", condition: { kind: "traitExists", trait: "name" } }],
  ["a date that comes", customer.day.within("5d"), { kind: "traitDateWithin", trait: "day", within: "5d" }],
  ["a date", customer.day.before("2026-01-01"), { kind: "trait", trait: "day", operator: "lt", value: "2026-01-01" }],
  ["silence", inactiveFor("21d"), { kind: "inactiveFor", duration: "21d" }],
  ["activity", activeWithin("3d"), { kind: "activeWithin", duration: "3d" }],
  ["time in the state", inState().atLeast("60d"), { kind: "inState", atLeast: "60d" }],
  ["a state", stages.is("b"), { kind: "lifecycle", states: ["b"] }],
  ["another state", stages.isNot("b"), { kind: "not", condition: { kind: "lifecycle", states: ["b"] } }],
  ["a segment", group.has(), { kind: "segment", segment: "group" }],
  [
    "a combination",
    any(all(group.has(), stages.in("a", "b")), not(inactiveFor("1d"))),
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
  ],
])("%s becomes its node", (_, condition, node) => {
  expect(condition[NODE]).toEqual(node);
});

test("every question about a property becomes its node", () => {
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

test("fields keep what was declared, and traits are never marked as optional", () => {
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
