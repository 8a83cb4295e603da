import { expect, test } from "vitest";

import { neverTogether } from "../../src/model/validate/impossible.js";
import { lint } from "../../src/dsl-compiler/lint/lint.js";
import {
  type Condition,
  EMPTY_SNAPSHOT,
  type EventSelector,
  type Journey,
  type Snapshot,
} from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";

/** What is warned of in a snapshot that is sound. */
function warningsOf(parts: Partial<Snapshot>): [path: string, code: string][] {
  const result = parseSnapshot({ ...EMPTY_SNAPSHOT, ...parts });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return lint(result.snapshot).map(({ path, code }) => [path, code]);
}

const events = { order: { properties: { total: { type: "number" } } } } as const;
const of: EventSelector = { event: "order" };
const read: Condition = { kind: "count", of, operator: "gte", value: 1 };
const exists: Condition = { kind: "traitExists", trait: "plan" };
const traits: Snapshot["traits"] = { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } };
const journey = (parts: Partial<Journey>): Journey => ({
  id: "j",
  start: read,
  steps: [{ id: "s", when: read }],
  ...parts,
});
const segment = (when: Condition) => ({ segments: [{ id: "s", when }] });
const plan = (value: string): Condition => ({ kind: "trait", trait: "plan", operator: "eq", value });

test.each<[string, Partial<Snapshot>]>([
  ["a count", segment(read)],
  ["a sum", segment({ kind: "aggregate", function: "sum", of, property: "total", operator: "gt", value: 5 })],
  ["a number of different values", segment({ kind: "distinct", of, property: "total", operator: "gt", value: 5 })],
  ["a latest value", segment({ kind: "latest", of, property: "total", operator: "gt", value: 5 })],
  ["whether there is a latest value", segment({ kind: "latestExists", of, property: "total" })],
  ["days since it", segment({ kind: "daysSince", which: "last", of, operator: "gt", value: 5 })],
  ["a journey's start", { journeys: [journey({ steps: [{ id: "s", when: exists }] })] }],
  ["a journey's step", { journeys: [journey({ start: exists })] }],
  ["a transition", { lifecycle: { initial: "a", states: [{ name: "a", transitions: [{ to: "b", when: read }] }, { name: "b", transitions: [] }] } }], // prettier-ignore
  ["a condition of a signal", { signals: [{ id: "s", severity: "info", when: read }] }],
  [
    "a condition of a rule",
    { rules: [{ id: "r", on: { kind: "traitsChanged" }, when: read, then: { kind: "emit", type: "a.b" } }] },
  ],
  ["a trigger of a rule", { rules: [{ id: "r", on: { kind: "event", of }, then: { kind: "emit", type: "a.b" } }] }],
  [
    "a health component",
    {
      health: {
        components: [
          {
            id: "c",
            weight: 1,
            score: { kind: "scale", of: { kind: "daysSince", which: "last", of }, from: 0, to: 1 },
          },
        ],
        bands: [{ id: "b", from: 0 }],
      },
    },
  ],
])("an event that %s reads is used", (_, parts) => {
  expect(warningsOf({ events, traits, ...parts })).toEqual([]);
});

test.each<[string, Condition]>([
  ["inactivity", { kind: "inactiveFor", duration: "7d" }],
  ["activity", { kind: "not", condition: { kind: "activeWithin", duration: "7d" } }],
])("a condition on %s reads every event", (_, when) => {
  expect(warningsOf({ events, ...segment(when) })).toEqual([]);
});

test("both events of a sequence are used, one that nobody reads is not", () => {
  const then = { properties: {} };
  const sequence: Condition = { kind: "sequence", first: of, then: { event: "then" }, within: "7d" };
  expect(warningsOf({ events: { ...events, then, unused: then }, ...segment(sequence) })).toEqual([
    ["events.unused", "UNUSED_EVENT"],
  ]);
});

test("a segment and a signal that nothing fills or raises are told", () => {
  const parts = {
    segments: [{ id: "filled" }, { id: "emptied" }, { id: "asked", when: exists }],
    signals: [
      { id: "raised", severity: "info" },
      { id: "cleared", severity: "info" },
    ],
  } as const;
  const rule = (id: string, then: Snapshot["rules"][number]["then"]) => ({
    id,
    on: { kind: "traitsChanged" } as const,
    then,
  });
  const rules = [
    rule("a", { kind: "addToSegment", segment: "filled" }),
    rule("b", { kind: "removeFromSegment", segment: "emptied" }),
    rule("c", { kind: "raiseSignal", signal: "raised" }),
    rule("d", { kind: "clearSignal", signal: "cleared" }),
  ];
  expect(warningsOf({ ...(parts as unknown as Partial<Snapshot>), traits, rules })).toEqual([
    ["segments[1]", "EMPTY_SEGMENT"],
    ["signals[1]", "SILENT_SIGNAL"],
  ]);
});

const none: EventSelector = {
  event: "order",
  where: {
    kind: "all",
    conditions: [
      { kind: "compare", property: "total", operator: "lt", value: 1 },
      { kind: "compare", property: "total", operator: "gt", value: 1 },
    ],
  },
};

test.each<[string, Partial<Snapshot>, string]>([
  ["contradictory traits", segment({ kind: "all", conditions: [plan("free"), read, plan("pro")] }), "segments[0].when"],
  [
    "a contradiction within a choice",
    segment({ kind: "any", conditions: [read, { kind: "all", conditions: [plan("free"), plan("pro")] }] }),
    "segments[0].when.conditions[1]",
  ],
  [
    "a filter that nothing fits",
    segment({ kind: "aggregate", function: "sum", of: none, property: "total", operator: "lt", value: 1 }),
    "segments[0].when.of.where",
  ],
  [
    "a trigger that nothing fits",
    { rules: [{ id: "r", on: { kind: "event", of: none }, then: { kind: "emit", type: "a.b" } }] },
    "rules[0].on.of.where",
  ],
  [
    "a measure that nothing fits",
    {
      health: {
        components: [{ id: "c", weight: 1, score: { kind: "scale", of: { kind: "count", of: none }, from: 0, to: 1 } }],
        bands: [{ id: "b", from: 0 }],
      },
    },
    "health.components[0].score.of.of.where",
  ],
  [
    "a health above 100",
    {
      ...segment({ kind: "all", conditions: [read, { kind: "health", operator: "gt", value: 100 }] }),
      health: {
        components: [{ id: "c", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 1 } } }],
        bands: [{ id: "b", from: 0 }],
      },
    },
    "segments[0].when.conditions[1]",
  ],
])("%s is told at its path", (_, parts, path) => {
  expect(warningsOf({ events, traits, ...parts }).filter(([, code]) => code !== "UNUSED_EVENT")).toEqual([
    [path, "IMPOSSIBLE_CONDITION"],
  ]);
});

test("what always holds is told", () => {
  const conditions: Condition[] = [
    { kind: "count", of, operator: "gte", value: 0 },
    { kind: "distinct", of, property: "total", operator: "gte", value: 0 },
    { kind: "daysSince", which: "last", of, operator: "gte", value: 0 },
  ];
  expect(warningsOf({ events, ...segment({ kind: "any", conditions }) })).toEqual([
    ["segments[0].when.conditions[0]", "POINTLESS_CONDITION"],
    ["segments[0].when.conditions[1]", "POINTLESS_CONDITION"],
  ]);
});

const seats = (operator: "eq" | "gt" | "gte" | "lt" | "lte", value: number): Condition => ({
  kind: "trait",
  trait: "seats",
  operator,
  value,
});
const plans = (operator: "in" | "notIn", ...value: string[]): Condition => ({
  kind: "trait",
  trait: "plan",
  operator,
  value,
});
const renewed = (operator: "eq" | "gt" | "lt", value: string): Condition => ({
  kind: "trait",
  trait: "renewsOn",
  operator,
  value,
});
const status = (...statuses: ("active" | "complete" | "expired")[]): Condition => ({
  kind: "journey",
  journey: "j",
  statuses,
});
const not = (condition: Condition): Condition => ({ kind: "not", condition });

test.each<[string, Condition, Condition, boolean]>([
  ["a condition and its opposite", read, not(read), true],
  ["an opposite and what it negates", not(exists), exists, true],
  ["two equal numbers", seats("eq", 3), seats("eq", 4), true],
  ["a range and a number below it", seats("gte", 5), seats("eq", 4), true],
  ["an empty range", seats("gte", 5), seats("lt", 5), true],
  ["a range of one number", seats("gte", 5), seats("lte", 5), false],
  ["a range", seats("gt", 1), seats("lte", 2), false],
  ["two texts", plan("free"), plan("pro"), true],
  ["lists without a common value", plans("in", "free"), plan("pro"), true],
  ["lists with a common value", plans("in", "free", "pro"), plan("pro"), false],
  ["what is also true of no value", not(plan("free")), not(plan("pro")), false],
  ["one instant in two zones", renewed("eq", "2026-03-01"), renewed("eq", "2026-03-01T01:00:00+01:00"), false],
  ["silence and activity", { kind: "activeWithin", duration: "3d" }, { kind: "inactiveFor", duration: "3d" }, true],
  [
    "activity before a silence",
    { kind: "activeWithin", duration: "4d" },
    { kind: "inactiveFor", duration: "3d" },
    false,
  ],
  ["two states", { kind: "lifecycle", states: ["a"] }, { kind: "lifecycle", states: ["b"] }, true],
  ["two bands", { kind: "healthBand", bands: ["good"] }, { kind: "healthBand", bands: ["bad"] }, true],
  ["two statuses of a journey", status("active"), status("complete", "expired"), true],
  ["counts of different windows", { ...read, within: "7d" }, { ...read, operator: "lt", within: "30d" }, false],
])("whether %s exclude each other is told as it is", (_, one, other, excluded) => {
  expect(
    neverTogether({ kind: "all", conditions: [exists, { kind: "all", conditions: [one, read] }, other] }) !== null,
  ).toBe(excluded);
});
