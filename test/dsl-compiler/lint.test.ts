import { expect, test } from "vitest";

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
const journeyIs = (...statuses: ("not_started" | "active" | "complete" | "expired")[]): Condition => ({
  kind: "journey",
  journey: "j",
  statuses,
});
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
    "a choice that the rest excludes",
    segment({ kind: "all", conditions: [plan("free"), read, { kind: "any", conditions: [plan("pro")] }] }),
    "segments[0].when",
  ],
  [
    "more in a week than in a month",
    segment({
      kind: "all",
      conditions: [
        { ...read, value: 3, within: "7d" },
        { ...read, operator: "lt", value: 3, within: "30d" },
      ],
    }),
    "segments[0].when",
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
  [
    "a journey that starts while it is active",
    { journeys: [journey({ start: { kind: "all", conditions: [read, journeyIs("active")] } })] },
    "journeys[0].start.conditions[1]",
  ],
  [
    "a journey that starts after its only run",
    { journeys: [journey({ start: journeyIs("complete") })] },
    "journeys[0].start",
  ],
  [
    "one way of a step that is never met",
    { journeys: [journey({ steps: [{ id: "s", when: { kind: "any", conditions: [read, journeyIs("expired")] } }] })] },
    "journeys[0].steps[0].when.conditions[1]",
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

test.each<[string, Partial<Snapshot>]>([
  [
    "a journey that starts again after its end",
    { journeys: [journey({ start: { kind: "any", conditions: [read, journeyIs("complete")] }, repeat: true })] },
  ],
  [
    "a range of numbers",
    segment({
      kind: "all",
      conditions: [
        read,
        { kind: "trait", trait: "seats", operator: "gt", value: 1 },
        { kind: "trait", trait: "seats", operator: "lte", value: 2 },
      ],
    }),
  ],
  [
    "another plan than all",
    segment({
      kind: "all",
      conditions: [read, { kind: "not", condition: plan("free") }, { kind: "not", condition: plan("pro") }],
    }),
  ],
])("%s is not warned of", (_, parts) => {
  expect(warningsOf({ events, traits, ...parts })).toEqual([]);
});
