import { expect, test } from "vitest";

import { neverTogether } from "../../src/model/validate/impossible.js";
import { lint } from "../../src/dsl-compiler/lint/lint.js";
import type {
  Condition,
  Duration,
  EventSelector,
  PropertyCondition,
  Snapshot,
} from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import {
  activeWithin,
  addTo,
  aggregate,
  all,
  any,
  clear,
  count,
  daysSince,
  distinct,
  emit,
  happened,
  healthIs,
  healthOf,
  inactiveFor,
  inBand,
  inLifecycle,
  journeyIs,
  not,
  property,
  raise,
  removeFrom,
  rule,
  sequence,
  snapshotOf,
  trait,
  traitExists,
  type Parts,
} from "../engine/support/builders.js";

/** The warnings about a valid snapshot. */
function warningsOf(parts: Parts): [path: string, code: string][] {
  const result = parseSnapshot(snapshotOf(parts));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return lint(result.snapshot).map(({ path, code }) => [path, code]);
}

const events: Snapshot["events"] = { order: { properties: { total: { type: "number" } } } };
const traits: Snapshot["traits"] = { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } };
const of: EventSelector = { event: "order" };
const read = happened("order");
const exists = traitExists("plan");
const segment = (s: Condition): Parts => ({ segments: { s } });
const plan = (value: string) => trait("plan", "eq", value);

test.each<[string, Parts]>([
  ["a count", segment(read)],
  ["a sum", segment(aggregate("sum", ["order", "total"], "gt", 5))],
  ["a number of different values", segment(distinct(["order", "total"], "gt", 5))],
  ["a latest value", segment({ kind: "latest", of, property: "total", operator: "gt", value: 5 })],
  ["the existence of a latest value", segment({ kind: "latestExists", of, property: "total" })],
  ["days since an event", segment(daysSince("last", "order", "gt", 5))],
  ["a journey's start", { journeys: { j: { start: read, steps: [["s", exists]] } } }],
  ["a journey's step", { journeys: { j: { start: exists, steps: [["s", read]] } } }],
  ["a transition", { states: { a: [["b", read]], b: [] } }],
  ["a condition of a signal", { signals: { s: { when: read } } }],
  ["a condition of a rule", { rules: { r: rule({ kind: "traitsChanged" }, emit("a.b"), { when: read }) } }],
  ["a trigger of a rule", { rules: { r: rule("order", emit("a.b")) } }],
  [
    "a health component",
    {
      health: healthOf(
        { c: { kind: "scale", of: { kind: "daysSince", which: "last", of }, from: 0, to: 1 } },
        { b: 0 },
      ),
    },
  ],
])("an event that %s reads is used", (_, parts) => {
  expect(warningsOf({ events, traits, ...parts })).toEqual([]);
});

test.each<[string, Condition]>([
  ["inactivity", inactiveFor("7d")],
  ["activity", not(activeWithin("7d"))],
])("a condition on %s reads every event", (_, when) => {
  expect(warningsOf({ events, ...segment(when) })).toEqual([]);
});

test("both events of a sequence are used, one that no condition reads is not", () => {
  const then = { properties: {} };
  expect(
    warningsOf({ events: { ...events, then, unused: then }, ...segment(sequence("order", "then", "7d")) }),
  ).toEqual([["events.unused", "UNUSED_EVENT"]]);
});

test("a segment that nothing fills and a signal that nothing raises are reported", () => {
  const actions = { a: addTo("filled"), b: removeFrom("emptied"), c: raise("raised"), d: clear("cleared") };
  const rules = Object.fromEntries(
    Object.entries(actions).map(([id, then]) => [id, rule({ kind: "traitsChanged" }, then)]),
  );
  const segments = { filled: null, emptied: null, asked: exists };
  expect(warningsOf({ segments, signals: { raised: {}, cleared: {} }, traits, rules })).toEqual([
    ["segments[1]", "EMPTY_SEGMENT"],
    ["signals[1]", "SILENT_SIGNAL"],
  ]);
});

test("a signal's message that holds a trait's name in braces is reported, other braces are not", () => {
  const messages = { trait: "Has {plan}", doubled: "{{plan}}", other: "{x} {", none: undefined };
  const signals = Object.fromEntries(
    Object.entries(messages).map(([id, message]) => [id, { when: exists, ...(message && { message }) }]),
  );
  expect(warningsOf({ signals, traits })).toEqual([["signals[0].message", "LITERAL_PLACEHOLDER"]]);
});

test("bands that begin at fractions of a score in percent are reported, one low band is not", () => {
  const component = { c: { kind: "map", trait: "plan", values: { pro: 100 } } } as const;
  const of = (bands: Record<string, number>) => warningsOf({ health: healthOf(component, bands), traits });
  expect(of({ good: 0.7, fair: 0.4, poor: 0 })).toEqual([["health.bands[0].from", "FRACTIONAL_BANDS"]]);
  expect(of({ good: 1, fair: 0.5, poor: 0 })).toEqual([["health.bands[0].from", "FRACTIONAL_BANDS"]]);
  expect(of({ some: 0.01, none: 0 })).toEqual([]);
  expect(of({ good: 70, fair: 0.5, poor: 0 })).toEqual([]);
});

const none: PropertyCondition = {
  kind: "all",
  conditions: [property("total", "lt", 1), property("total", "gt", 1)],
};
const onNone = { kind: "event", of: { ...of, where: none } } as const;
const countNone = { kind: "scale", of: { kind: "count", of: onNone.of }, from: 0, to: 1 } as const;
const planned = healthOf({ c: { kind: "map", trait: "plan", values: { pro: 1 } } }, { b: 0 });

test.each<[parts: Parts, path: string]>([
  [segment(all(plan("free"), read, plan("pro"))), "segments[0].when"],
  [segment(any(read, all(plan("free"), plan("pro")))), "segments[0].when.conditions[1]"],
  [segment(aggregate("sum", ["order", "total"], "lt", 1, { where: none })), "segments[0].when.of.where"],
  [{ rules: { r: rule(onNone, emit("a.b")) } }, "rules[0].on.of.where"],
  [{ health: healthOf({ c: countNone }, { b: 0 }) }, "health.components[0].score.of.of.where"],
  [{ ...segment(all(read, healthIs("gt", 100))), health: planned }, "segments[0].when.conditions[1]"],
])("%j is reported as impossible at %s", (parts, path) => {
  expect(warningsOf({ events, traits, ...parts }).filter(([, code]) => code !== "UNUSED_EVENT")).toEqual([
    [path, "IMPOSSIBLE_CONDITION"],
  ]);
});

test("a transition with the same condition as an earlier one of its state is reported", () => {
  const states: Parts["states"] = {
    a: [["b", read], ["c", exists], ["c", read]],
    b: [["c", read]],
    c: "terminal",
  }; // oxfmt-ignore
  expect(warningsOf({ events, traits, states })).toEqual([
    ["lifecycle.states[0].transitions[2]", "IMPOSSIBLE_CONDITION"],
  ]);
});

test("a transition that waits longer than an earlier one of its state is reported", () => {
  const stay = (atLeast: Duration): Condition => ({ kind: "inState", atLeast });
  const states: Parts["states"] = {
    a: [["c", stay("60d")], ["b", stay("4w")], ["c", all(exists, stay("28d"))], ["c", all(exists, stay("27d"))], ["c", not(stay("60d"))]],
    b: [["b", stay("1d")], ["c", stay("2d")]],
    c: "terminal",
  }; // oxfmt-ignore
  expect(warningsOf({ events, traits, states, segments: { s: read } })).toEqual([
    ["lifecycle.states[0].transitions[2]", "IMPOSSIBLE_CONDITION"],
    ["lifecycle.states[1].transitions[0]", "IMPOSSIBLE_CONDITION"],
  ]);
});

test("a condition that always holds is reported", () => {
  const [counted, different] = [count("order", "gte", 0), distinct(["order", "total"], "gte", 0)];
  expect(warningsOf({ events, ...segment(any(counted, different, daysSince("last", "order", "gte", 0))) })).toEqual([
    ["segments[0].when.conditions[0]", "POINTLESS_CONDITION"],
    ["segments[0].when.conditions[1]", "POINTLESS_CONDITION"],
  ]);
});

const seats = (operator: "eq" | "gt" | "gte" | "lt" | "lte", value: number) => trait("seats", operator, value);
const plans = (...value: string[]) => trait("plan", "in", value);
const renewed = (value: string) => trait("renewsOn", "eq", value);

test.each<[string, Condition, Condition, boolean]>([
  ["a condition and its opposite", read, not(read), true],
  ["a negation and the condition it negates", not(exists), exists, true],
  ["two equal numbers", seats("eq", 3), seats("eq", 4), true],
  ["a range and a number below it", seats("gte", 5), seats("eq", 4), true],
  ["an empty range", seats("gte", 5), seats("lt", 5), true],
  ["a range of one number", seats("gte", 5), seats("lte", 5), false],
  ["a range", seats("gt", 1), seats("lte", 2), false],
  ["two texts", plan("free"), plan("pro"), true],
  ["lists without a common value", plans("free"), plan("pro"), true],
  ["lists with a common value", plans("free", "pro"), plan("pro"), false],
  ["negations that are also true of an absent value", not(plan("free")), not(plan("pro")), false],
  ["one instant in two zones", renewed("2026-03-01"), renewed("2026-03-01T01:00:00+01:00"), false],
  ["inactivity and activity", activeWithin("3d"), inactiveFor("3d"), true],
  ["activity before inactivity", activeWithin("4d"), inactiveFor("3d"), false],
  ["two states", inLifecycle("a"), inLifecycle("b"), true],
  ["two bands", inBand("good"), inBand("bad"), true],
  ["two statuses of a journey", journeyIs("j", "active"), journeyIs("j", "complete", "expired"), true],
  ["counts of different windows", { ...read, within: "7d" }, { ...read, operator: "lt", within: "30d" }, false],
])("the lint knows whether %s exclude each other", (_, one, other, excluded) => {
  expect(neverTogether(all(exists, all(one, read), other)) !== null).toBe(excluded);
});
