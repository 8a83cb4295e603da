import { expect, test } from "vitest";

import type { Condition, Journey, PropertyCondition } from "../../src/model/snapshot/types.js";
import { complete, health, messagesOf, problemsOf } from "./sound.js";

const of = { event: "order placed" };
const count = (operator: "eq" | "lt" | "lte" | "gt" | "gte", value: number, scope: object = {}): Condition => ({
  kind: "count",
  of,
  operator,
  value,
  ...scope,
});
const days = (which: "first" | "last", value: number): Condition => ({
  kind: "daysSince",
  which,
  of,
  operator: "gte",
  value,
});
const plan = (operator: "eq" | "ne" | "in" | "notIn", value: string | string[]): Condition => ({
  kind: "trait",
  trait: "plan",
  operator,
  value,
});
const seats = (operator: "eq" | "ne" | "lt" | "lte" | "gt" | "gte", value: number): Condition => ({
  kind: "trait",
  trait: "seats",
  operator,
  value,
});
const renews = (operator: "eq" | "lt" | "gt", value: string): Condition => ({
  kind: "trait",
  trait: "renewsOn",
  operator,
  value,
});
const has: Condition = { kind: "segment", segment: "chosen" };
const not = (condition: Condition): Condition => ({ kind: "not", condition });
const all = (...conditions: Condition[]): Condition => ({ kind: "all", conditions });
const any = (...conditions: Condition[]): Condition => ({ kind: "any", conditions });
const where = (...conditions: PropertyCondition[]): Condition => ({
  kind: "count",
  of: { ...of, where: { kind: "all", conditions } },
  operator: "gte",
  value: 1,
});
const total = (operator: "lt" | "gt", value: number): PropertyCondition => ({
  kind: "compare",
  property: "total",
  operator,
  value,
});
const status = (...statuses: ("not_started" | "active" | "complete" | "expired")[]): Condition => ({
  kind: "journey",
  journey: "j",
  statuses,
});
const at = (step: string, is: "current" | "completed"): Condition => ({ kind: "journeyStep", journey: "j", step, is });
const silent = (duration: string): Condition => ({ kind: "inactiveFor", duration });
const active = (duration: string): Condition => ({ kind: "activeWithin", duration });
const score = (operator: "lt" | "gt" | "gte", value: number): Condition => ({ kind: "health", operator, value });

/** A journey whose second step has this condition. */
const withStep = (when: Condition, parts: Partial<Journey> = {}) => {
  const steps = [{ id: "one", when: has }, { id: "two", when }, { id: "three", when: has }]; // prettier-ignore
  return { journeys: [{ id: "j", start: has, steps, ...parts }], health };
};

test.each<[string, Condition, Partial<Journey>?]>([
  ["fewer than no occurrences", count("lt", 0)],
  ["a count that a filter leaves empty", where(total("gt", 5), total("lt", 5))],
  [
    "a sequence that a filter leaves empty",
    {
      kind: "sequence",
      first: of,
      then: { ...of, where: { kind: "all", conditions: [total("gt", 5), total("lt", 3)] } },
      within: "1d",
    },
  ],
  ["fewer than no different values", { kind: "distinct", of, property: "source", operator: "lt", value: 0 }],
  ["a score below 0", score("lt", 0)],
  ["a score above 100", score("gt", 100)],
  ["numbers between neighbours", all(count("gt", 3), count("lt", 4))],
  ["two equal numbers", all(seats("eq", 3), seats("eq", 4))],
  ["an empty range", all(seats("gte", 5), seats("lt", 5))],
  ["the one number that is excluded", all(seats("gte", 5), seats("lte", 5), seats("ne", 5))],
  ["a range and what is outside of it", all(seats("gte", 5), not(seats("gte", 5)))],
  ["two texts", all(plan("eq", "free"), plan("eq", "pro"))],
  ["a list without what is left of it", all(plan("in", ["free", "pro"]), plan("ne", "pro"), not(plan("eq", "free")))],
  ["dates in the wrong order", all(renews("gt", "2026-03-01"), renews("lt", "2026-03-01T00:00:00+00:00"))],
  [
    "a date that is ahead and passed",
    all({ kind: "traitDateWithin", trait: "renewsOn", within: "3d" }, { kind: "traitDatePassed", trait: "renewsOn" }),
  ],
  ["a value of what is missing", all(seats("gte", 1), not({ kind: "traitExists", trait: "seats" }))],
  ["silence and activity", all(active("3d"), silent("3d"))],
  ["two states", all({ kind: "lifecycle", states: ["a"] }, { kind: "lifecycle", states: ["b"] })],
  ["two bands", all({ kind: "healthBand", bands: ["good"] }, { kind: "healthBand", bands: ["bad"] })],
  ["a condition and its opposite", all(has, not(has))],
  [
    "more within a window than within a longer one",
    all(count("gte", 3, { within: "7d" }), count("lt", 3, { within: "30d" })),
  ],
  ["more within a window than in all", all(count("gt", 2, { within: "7d" }), count("lte", 2))],
  ["nothing but what is impossible", any(count("lt", 0), all(plan("eq", "free"), plan("eq", "pro")))],
  ["a choice that the rest excludes", all(plan("eq", "free"), any(plan("eq", "pro"), all(has, plan("ne", "free"))))],
  ["the opposite of what always holds", not(count("gte", 0))],
  ["the opposite of a choice that holds anyway", not(any(has, not(has)))],
  ["the journey's own end", status("complete", "expired")],
  ["the journey's own end, said the other way", not(status("active"))],
  ["another step of its own journey", at("one", "current")],
  ["its own completion", at("two", "completed")],
  ["its own absence", not(at("two", "current"))],
  ["longer ago than the journey lives", days("last", 7), { expiresAfter: "7d" }],
  ["a day ago in a journey of hours", days("last", 1), { expiresAfter: "12h" }],
])("a step that asks for %s can never be met", (_, when, parts = {}) => {
  const lifecycle = { initial: "a", states: [{ name: "a", transitions: [] }, { name: "b", transitions: [] }] }; // prettier-ignore
  expect(problemsOf({ ...withStep(when, parts), lifecycle }, complete)).toEqual([
    ["journeys[0].steps[1].when", "STEP_IMPOSSIBLE"],
  ]);
});

test.each<[string, Condition, Partial<Journey>?]>([
  ["no occurrences", count("eq", 0)],
  ["a filter that leaves something", where(total("gt", 5), total("lt", 6))],
  ["nothing that fits a filter", { ...where(total("gt", 5), total("lt", 5)), operator: "lt" } as Condition],
  [
    "a sum of nothing",
    {
      kind: "aggregate",
      function: "sum",
      of: { ...of, where: { kind: "all", conditions: [total("gt", 5), total("lt", 5)] } },
      property: "total",
      operator: "lte",
      value: 0,
    },
  ],
  ["a single number", all(seats("gte", 5), seats("lte", 5))],
  ["numbers between neighbours that are not whole", all(seats("gt", 3), seats("lt", 4))],
  ["none of all values, which is absence", all(plan("ne", "free"), plan("ne", "pro"))],
  ["neither more nor less, which is absence", all(not(seats("gte", 5)), not(seats("lt", 5)))],
  ["the same date in two zones", all(renews("eq", "2026-03-01"), renews("eq", "2026-03-01T01:00:00+01:00"))],
  ["the activity before a shorter silence", all(active("4d"), silent("3d"))],
  ["no activity and no silence, which is no event yet", all(not(active("10d")), not(silent("5d")))],
  [
    "a list's values one by one",
    all(
      { kind: "latest", of, property: "tags", operator: "contains", value: "x" },
      not({ kind: "latestExists", of, property: "gift" }),
    ),
  ],
  [
    "more within a long window than within a short one",
    all(count("gte", 3, { within: "30d" }), count("lt", 3, { within: "7d" })),
  ],
  ["more since the state than since the start", all(count("gte", 3, { since: "state" }), count("lt", 3))],
  ["a choice of which one is left", all(plan("eq", "free"), any(plan("eq", "pro"), has))],
  ["the status that it has", status("active")],
  ["a step that is done", at("one", "completed")],
  ["a later step that may be done since another version", at("three", "completed")],
  ["another step in any order", at("one", "current"), { anyOrder: true }],
  ["just inside the journey's life", days("last", 6), { expiresAfter: "7d" }],
  ["days since the first of all", days("first", 30), { expiresAfter: "7d" }],
])("a step that asks for %s may be met", (_, when, parts = {}) => {
  expect(problemsOf(withStep(when, parts), complete)).toEqual([]);
});

test("why a step can never be met is told in words", () => {
  expect(messagesOf(withStep(status("complete")))).toEqual([
    'the step "two" can never be met: the status of the journey "j" is never "active" and "complete" at once',
  ]);
  expect(messagesOf(withStep(all(seats("gte", 5), seats("lt", 3))))).toEqual([
    'the step "two" can never be met: the trait "seats" is never at least 5 and less than 3 at once',
  ]);
  expect(messagesOf(withStep(all(count("gte", 3, { within: "7d" }), count("lt", 3))))).toEqual([
    'the step "two" can never be met: there are never at least 3 within "7d" and less than 3 in all',
  ]);
  expect(messagesOf(withStep(days("last", 9), { expiresAfter: "7d" }))).toEqual([
    'the step "two" can never be met: a number of days within a run of the journey is never at least 9',
  ]);
  expect(messagesOf(withStep(where(total("gt", 5), total("lt", 3))))).toEqual([
    'the step "two" can never be met: no event "order placed" fits the filter: the property "total" is never more than 5 and less than 3 at once',
  ]);
});
