import { expect, test } from "vitest";

import type { Condition } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { complete, messagesOf, ordered, problemsOf } from "./sound.js";

const of = { event: "order placed" };
const over = (parts: object) => ({ of, operator: "gte", value: 1, ...parts });
const count = (parts: object) => over({ kind: "count", ...parts });
const aggregate = (parts: object) => over({ kind: "aggregate", function: "sum", property: "total", ...parts });
const distinct = (parts: object) => over({ kind: "distinct", property: "source", ...parts });
const latest = (parts: object) => over({ kind: "latest", property: "total", ...parts });
const daysSince = (parts: object) => over({ kind: "daysSince", which: "last", ...parts });
const ratio = (parts: object) => over({ kind: "ratio", of: { kind: "count", of }, per: { kind: "trait", trait: "seats" }, ...parts }); // oxfmt-ignore
/** `depth` nested differences. */
const nested = (depth: number): object => {
  const plain = { kind: "count", of };
  return depth === 0 ? plain : { kind: "difference", of: nested(depth - 1), minus: plain };
};
const sequence = (parts: object) => ({ kind: "sequence", first: of, then: of, within: "7d", ...parts });

const WHEN = "segments[1].when";
const problemsOfCondition = (when: unknown, from = complete) =>
  problemsOf({ segments: [{ id: "chosen" }, { id: "s", when }] }, from);

test("every kind of condition is accepted", () => {
  const where = { kind: "compare", property: "source", operator: "eq", value: "web" } as const;
  const since = { journey: "onboarding" };
  const total = { kind: "aggregate", of, property: "total" } as const;
  const conditions: Condition[] = [
    { kind: "count", of, since, operator: "gte", value: 10_000 },
    { ...total, function: "sum", within: "30d", operator: "gt", value: -1.5 },
    { ...total, function: "avg", of: { ...of, where }, since: "state", operator: "lt", value: 1 },
    { ...total, function: "min", since, operator: "ne", value: 0 },
    { ...total, function: "max", operator: "eq", value: 3 },
    { kind: "distinct", of, property: "gift", operator: "gte", value: 2 },
    { kind: "latest", of, property: "source", operator: "in", value: ["web", "api"] },
    { kind: "latest", of, property: "tags", within: "1d", operator: "contains", value: "x" },
    { kind: "latestExists", of, property: "source", since: "state" },
    { kind: "daysSince", which: "first", of, operator: "lte", value: 30 },
    { kind: "count", of, within: "1d", previous: true, operator: "gte", value: 20_000 },
    {
      kind: "difference",
      of: { kind: "count", of, within: "1d" },
      minus: { kind: "count", of },
      operator: "lt",
      value: -0.5,
    },
    { kind: "sequence", first: of, then: { ...of, where }, within: "1h", since },
    { kind: "traitDatePassed", trait: "renewsOn" },
    { kind: "traitDatePassed", trait: "renewsOn", by: "7d" },
    { kind: "journey", journey: "onboarding", statuses: ["active", "complete"] },
    { kind: "journeyStep", journey: "onboarding", step: "invite", is: "completed" },
    { kind: "health", operator: "gte", value: 70 },
    { kind: "health", component: "orders", operator: "lt", value: 30.5 },
    { kind: "healthBand", bands: ["bad"] },
  ];
  const segments = [...complete.segments, { id: "s", when: { kind: "all" as const, conditions } }];
  expect(parseSnapshot({ ...complete, segments })).toEqual({ ok: true, snapshot: { ...complete, segments } });
});

test.each<[condition: unknown, ...problems: string[]]>([
  [count({ within: "1d", since: "state" }), " INVALID_SHAPE"],
  [aggregate({ within: "1d", since: "state" }), " INVALID_SHAPE"],
  [count({ since: "journey" }), ".since INVALID_SHAPE"],
  [count({ since: 5 }), ".since INVALID_SHAPE"],
  [latest({ since: null }), ".since INVALID_SHAPE"],
  [count({ since: { journey: "onboarding", state: "a" } }), ".since.state INVALID_SHAPE"],
  [aggregate({ since: { journey: "boarding" } }), ".since.journey UNKNOWN_JOURNEY"],
  [aggregate({ within: "1.5d" }), ".within INVALID_DURATION"],
  [count({ value: -1 }), ".value INVALID_SHAPE"],
  [count({ value: 0.5 }), ".value INVALID_SHAPE"],
  [count({ value: 1_000_000 })],
  [count({ within: "30d", value: 1_000_000 })],
  [count({ since: "state", value: 1_000_000 })],
  [count({ since: { journey: "onboarding" }, operator: "eq", value: 1_000_000 })],
  [count({ previous: true }), ".previous INVALID_SHAPE"],
  [aggregate({ previous: true, since: "state" }), ".previous INVALID_SHAPE"],
  [aggregate({ function: "min", previous: true, within: "1d" }), ".previous INVALID_SHAPE"],
  [distinct({ previous: true, within: "1d", value: 1 }), ".previous INVALID_SHAPE"],
  [ratio({ per: { kind: "trait", trait: "plan" } }), ".per.trait TYPE_MISMATCH"],
  [ratio({ per: { kind: "daysSince", which: "first", of } }), ".per INVALID_SHAPE"],
  [ratio({ per: null }), ".per INVALID_SHAPE"],
  [ratio({ per: { kind: "latest", of, property: "source" } }), ".per.property TYPE_MISMATCH"],
  [ratio({ of: { kind: "count", of: { event: "order" }, within: "x" } }), ".of.within INVALID_DURATION", ".of.of.event UNKNOWN_EVENT"], // oxfmt-ignore
  [ratio({ of: nested(3) })],
  [ratio({ of: nested(4) }), ".of.of.of.of TOO_DEEP"],
  [ratio({ value: "1" }), ".value INVALID_SHAPE"],
  [distinct({ value: 10_001 }), ".value COUNT_TOO_LARGE"],
  [distinct({ value: 1.5 }), ".value INVALID_SHAPE"],
  [distinct({ property: "tags" }), ".property TYPE_MISMATCH"],
  [aggregate({ property: "source" }), ".property TYPE_MISMATCH"],
  [aggregate({ function: "avg", property: "gift" }), ".property TYPE_MISMATCH"],
  [aggregate({ function: "median" }), ".function INVALID_SHAPE"],
  [over({ kind: "aggregate", function: "sum" }), ".property INVALID_SHAPE"],
  [aggregate({ property: "totals" }), ".property UNKNOWN_PROPERTY"],
  [aggregate({ of: { event: "order" } }), ".of.event UNKNOWN_EVENT"],
  [aggregate({ operator: "in" }), ".operator INVALID_SHAPE"],
  [aggregate({ value: "1" }), ".value INVALID_SHAPE"],
  [latest({ property: "source", operator: "eq" }), ".value TYPE_MISMATCH"],
  [latest({ property: "source", value: "web" }), ".operator TYPE_MISMATCH"],
  [latest({ property: "source", operator: "eq", value: "fax" }), ".value INVALID_VALUE"],
  [latest({ property: "source", operator: "in", value: [] }), ".value INVALID_SHAPE"],
  [latest({ property: "x" }), ".property UNKNOWN_PROPERTY"],
  [{ kind: "latestExists", of, property: "x" }, ".property UNKNOWN_PROPERTY"],
  [daysSince({ value: 1.5 }), ".value INVALID_SHAPE"],
  [daysSince({ value: -1 }), ".value INVALID_SHAPE"],
  [daysSince({ value: 36_501 }), ".value INVALID_SHAPE"],
  [daysSince({ which: "second" }), ".which INVALID_SHAPE"],
  [daysSince({ within: "7d" }), ".within INVALID_SHAPE"],
  [{ kind: "sequence", first: of, then: of }, ".within INVALID_SHAPE"],
  [
    sequence({ first: { event: "x" }, then: { event: "order placed", where: { kind: "exists", property: "x" } } }),
    ".first.event UNKNOWN_EVENT",
    ".then.where.property UNKNOWN_PROPERTY",
  ],
  [{ kind: "traitDatePassed", trait: "seats" }, ".trait TYPE_MISMATCH"],
  [{ kind: "traitDatePassed", trait: "renewsOn", by: "0d" }, ".by INVALID_DURATION"],
  [{ kind: "journey", journey: "x", statuses: ["active"] }, ".journey UNKNOWN_JOURNEY"],
  [{ kind: "journey", journey: "onboarding", statuses: [] }, ".statuses INVALID_SHAPE"],
  [{ kind: "journey", journey: "onboarding", statuses: ["done"] }, ".statuses[0] INVALID_SHAPE"],
  [{ kind: "journeyStep", journey: "x", step: "y", is: "current" }, ".journey UNKNOWN_JOURNEY"],
  [{ kind: "journeyStep", journey: "onboarding", step: "y", is: "current" }, ".step UNKNOWN_STEP"],
  [{ kind: "journeyStep", journey: "onboarding", step: "invite", is: "next" }, ".is INVALID_SHAPE"],
  [{ kind: "health", component: "x", operator: "gte", value: 1 }, ".component UNKNOWN_COMPONENT"],
  [{ kind: "health", operator: "gte", value: 101 }, ".value INVALID_SHAPE"],
  [{ kind: "health", operator: "gte", value: -1 }, ".value INVALID_SHAPE"],
  [{ kind: "healthBand", bands: ["bad", "goods"] }, ".bands[1] UNKNOWN_BAND"],
  [{ kind: "healthBand", bands: [] }, ".bands INVALID_SHAPE"],
])("the problems of the condition %j are:%s", (condition, ...problems) => {
  expect(problemsOfCondition(condition)).toEqual(problems.map((problem) => WHEN + problem));
});

test("conditions on health, journeys or a lifecycle are refused in a model without them", () => {
  const conditions = [
    { kind: "health", operator: "gte", value: 1 },
    { kind: "healthBand", bands: ["x"] },
    sequence({ since: "state" }),
    { kind: "journey", journey: "onboarding", statuses: ["active"] },
  ];
  const bare = { ...complete, health: null, journeys: [], lifecycle: null };
  expect(problemsOfCondition({ kind: "all", conditions }, bare)).toEqual([
    `${WHEN}.conditions[0] NO_HEALTH`,
    `${WHEN}.conditions[1] NO_HEALTH`,
    `${WHEN}.conditions[2].since NO_LIFECYCLE`,
    `${WHEN}.conditions[3].journey UNKNOWN_JOURNEY`,
  ]);
});

test("similar names are suggested, others are not", () => {
  const messages = (conditions: unknown[]) =>
    messagesOf({ segments: [...complete.segments, { id: "s", when: { kind: "all", conditions } }] });
  expect(
    messages([
      { kind: "traitExists", trait: "seets" },
      aggregate({ property: "totl" }),
      { ...ordered, of: { event: "order placd" } },
      { kind: "segment", segment: "buyer" },
      { kind: "lifecycle", states: ["b"] },
      { kind: "journey", journey: "onboardng", statuses: ["active"] },
      { kind: "journeyStep", journey: "onboarding", step: "invites", is: "current" },
      { kind: "health", component: "order", operator: "gte", value: 1 },
      { kind: "healthBand", bands: ["god"] },
      { kind: "trait", trait: "plan", operator: "eq", value: "fre" },
      { kind: "traitExists", trait: "company" },
    ]),
  ).toEqual([
    'there is no trait "seets"; did you mean "seats"?',
    'the event "order placed" has no property "totl"; did you mean "total"?',
    'there is no event "order placd"; did you mean "order placed"?',
    'there is no segment "buyer"; did you mean "buyers"?',
    'the lifecycle has no state "b"',
    'there is no journey "onboardng"; did you mean "onboarding"?',
    'the journey "onboarding" has no step "invites"; did you mean "invite"?',
    'the health score has no component "order"; did you mean "orders"?',
    'the health score has no band "god"; did you mean "good"?',
    '"fre" is not one of the declared values "free", "pro"; did you mean "free"?',
    'there is no trait "company"',
  ]);
});
