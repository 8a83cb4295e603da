import {
  type Action,
  addTo,
  clear,
  daysSince,
  daysSinceFirst,
  emit,
  event,
  health,
  inactiveFor,
  journey,
  type Measure,
  number,
  type Occasion,
  oneOf,
  raise,
  removeFrom,
  rule,
  scale,
  type Score,
  segment,
  signal,
  step,
  steps,
  traits,
  traitsChanged,
} from "svc";
import { expect, test } from "vitest";

import { LOWER, type Part, SCORE } from "../../src/dsl/part.js";

const order = event("order", { total: number(), source: oneOf("web", "api") });
const customer = traits({ plan: oneOf("free", "pro"), seats: number() });
const chosen = segment("chosen");
const alarm = signal("alarm", { severity: "critical" });
const onboarding = journey("onboarding", { start: order.happened(), steps: [step("pay", order.happened())] });

const of = { event: "order" };
const happened = { kind: "count", of, operator: "gte", value: 1 };
const lowered = (part: Part<string, object>) => part[LOWER]();

test.each<[string, object, object]>([
  ["only what must be there", {}, {}],
  ["what is said to be as it is anyway", { anyOrder: false, repeat: false }, {}],
  [
    "everything",
    { anyOrder: true, repeat: true, expiresAfter: "30d" },
    { anyOrder: true, repeat: true, expiresAfter: "30d" },
  ],
])("a journey with %s becomes its node", (_, options, members) => {
  const model = journey("j", {
    start: () => order.happened(),
    steps: [step("a", order.happened()), step("b", () => order.happened(), { since: "previousStep" })],
    ...options,
  });
  expect(lowered(model)).toEqual({
    id: "j",
    start: happened,
    steps: [
      { id: "a", when: happened },
      { id: "b", when: happened, since: "previousStep" },
    ],
    ...members,
  });
});

test("a segment has a condition or none", () => {
  expect(lowered(chosen)).toEqual({ id: "chosen" });
  expect(lowered(segment("s", { when: order.happened() }))).toEqual({ id: "s", when: happened });
  expect(lowered(segment("s", { when: () => order.happened() }))).toEqual({ id: "s", when: happened });
});

test.each([
  [signal("s", { severity: "info" }), { id: "s", severity: "info" }],
  [
    signal("s", { severity: "critical", message: "Call", for: "3d" }),
    { id: "s", severity: "critical", message: "Call", for: "3d" },
  ],
  [
    signal("s", { severity: "warning", when: () => order.happened() }),
    { id: "s", severity: "warning", when: happened },
  ],
])("a signal becomes its node", (model, node) => {
  expect(lowered(model)).toEqual(node);
});

const where = { kind: "compare", property: "total", operator: "gte", value: 5 };

test.each<[string, Occasion, unknown]>([
  ["an event", order, { kind: "event", of }],
  ["an event that meets a filter", order.where((p) => p.total.atLeast(5)), { kind: "event", of: { ...of, where } }],
  ["changed traits", traitsChanged, { kind: "traitsChanged" }],
  ["the entry of a segment", chosen.entered(), { kind: "segmentEntered", segment: "chosen" }],
  ["the exit of a segment", chosen.exited(), { kind: "segmentExited", segment: "chosen" }],
  ["a raised signal", alarm.raised(), { kind: "signalRaised", signal: "alarm" }],
  ["a cleared signal", alarm.cleared(), { kind: "signalCleared", signal: "alarm" }],
])("a rule may wait for %s", (_, on, node) => {
  expect(lowered(rule("r", { on, then: emit("x") }))).toEqual({ id: "r", on: node, then: { kind: "emit", type: "x" } });
});

test.each<[string, Action, unknown]>([
  ["add to a segment", addTo(chosen), { kind: "addToSegment", segment: "chosen" }],
  ["remove from a segment", removeFrom(chosen), { kind: "removeFromSegment", segment: "chosen" }],
  ["emit an event type", emit("upsell.ready"), { kind: "emit", type: "upsell.ready" }],
  ["raise a signal", raise(alarm), { kind: "raiseSignal", signal: "alarm" }],
  ["clear a signal", clear(alarm), { kind: "clearSignal", signal: "alarm" }],
])("a rule may %s", (_, then, node) => {
  expect(lowered(rule("r", { on: order, then }))).toEqual({ id: "r", on: { kind: "event", of }, then: node });
});

test.each([
  [
    { when: inactiveFor("1d"), cooldown: "3d" } as const,
    { when: { kind: "inactiveFor", duration: "1d" }, cooldown: "3d" },
  ],
  [{ when: () => order.happened(), once: true } as const, { when: happened, once: true }],
  [{ once: false } as const, {}],
])("a rule keeps its condition and its limit", (members, nodes) => {
  expect(lowered(rule("r", { on: order, then: emit("x"), ...members }))).toEqual({
    id: "r",
    on: { kind: "event", of },
    then: { kind: "emit", type: "x" },
    ...nodes,
  });
});

const filtered = order.where((p) => p.total.atLeast(5));

test.each<[string, Measure, unknown]>([
  ["a count", order.count(), { kind: "count", of }],
  ["a count in a window", filtered.count().within("30d"), { kind: "count", of: { ...of, where }, within: "30d" }],
  ["a sum", order.sum("total"), { kind: "aggregate", function: "sum", of, property: "total" }],
  [
    "an average since the state",
    order.avg("total").since("state"),
    { kind: "aggregate", function: "avg", of, property: "total", since: "state" },
  ],
  [
    "different values since a journey",
    order.distinct("source").since(onboarding),
    { kind: "distinct", of, property: "source", since: { journey: "onboarding" } },
  ],
  ["a latest number", order.latest("total"), { kind: "latest", of, property: "total" }],
  [
    "a latest number in a window",
    order.latest("total").within("1d"),
    { kind: "latest", of, property: "total", within: "1d" },
  ],
  ["days since", daysSince(order), { kind: "daysSince", which: "last", of }],
  ["days since the first", daysSinceFirst(filtered), { kind: "daysSince", which: "first", of: { ...of, where } }],
  ["a trait", customer.seats, { kind: "trait", trait: "seats" }],
])("%s is a measure", (_, measure, node) => {
  expect(scale(measure, { from: 0, to: 20 })[SCORE]).toEqual({ kind: "scale", of: node, from: 0, to: 20 });
});

test.each<[string, Score, unknown]>([
  ["a scale", scale(order.count(), { from: 9, to: 0 }), { kind: "scale", of: { kind: "count", of }, from: 9, to: 0 }],
  [
    "steps",
    steps(
      order.count(),
      [
        [2, 100],
        [7.5, 70],
      ],
      5,
    ),
    {
      kind: "steps",
      of: { kind: "count", of },
      steps: [
        [2, 100],
        [7.5, 70],
      ],
      otherwise: 5,
    },
  ],
  ["a map", customer.plan.map({ free: 30, pro: 70 }), { kind: "map", trait: "plan", values: { free: 30, pro: 70 } }],
])("%s is a score", (_, score, node) => {
  expect(score[SCORE]).toEqual(node);
});

test("a health score keeps the order of its components, and puts its bands in falling order", () => {
  const score = scale(order.count(), { from: 0, to: 9 });
  const model = health({
    components: { use: { weight: 0.5, score }, growth: { weight: 1, score: () => score } },
    bands: { critical: 0, healthy: 70, at_risk: 40 },
  });
  expect(lowered(model)).toEqual({
    components: [
      { id: "use", weight: 0.5, score: score[SCORE] },
      { id: "growth", weight: 1, score: score[SCORE] },
    ],
    bands: [
      { id: "healthy", from: 70 },
      { id: "at_risk", from: 40 },
      { id: "critical", from: 0 },
    ],
  });
});
