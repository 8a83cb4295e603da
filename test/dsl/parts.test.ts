import {
  daysSince,
  daysSinceFirst,
  event,
  inactiveFor,
  number,
  oneOf,
  traits,
  traitsChanged,
  health,
  journey,
  lifecycle,
  rule,
  scale,
  segment,
  signal,
  step,
  steps,
  addTo,
  clear,
  emit,
  raise,
  removeFrom,
} from "svc-success";
import type { Action, Measure, Occasion, Score } from "svc-success";
import { expect, test } from "vitest";

import { LOWER, NODE, type Part, SCORE } from "../../src/dsl/part.js";
import type { Lifecycle } from "../../src/model/snapshot/types.js";

const order = event("order", { total: number(), source: oneOf("web", "api") });
const customer = traits({ plan: oneOf("free", "pro"), seats: number() });
const chosen = segment("chosen");
const alarm = signal("alarm", { severity: "critical" });
const stages = lifecycle({ initial: "new", states: { new: {} } });
const onboarding = journey("onboarding", { start: order.happened(), steps: [step("pay", order.happened())] });
const score = health({
  components: { size: { weight: 1, score: scale(customer.seats, { from: 0, to: 9 }) } },
  bands: { good: 0 },
});

const of = { event: "order" };
const happened = { kind: "count", of, operator: "gte", value: 1 };
const lowered = (part: Part<string, object>) => part[LOWER]();

const EVERYTHING = { anyOrder: true, repeat: true, expiresAfter: "30d" };

test.each<[string, object, object]>([
  ["only the required members", {}, {}],
  ["explicit defaults", { anyOrder: false, repeat: false }, {}],
  ["everything", EVERYTHING, EVERYTHING],
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

test("transitions from any state come first in each state, except the target, terminal states and exceptions", () => {
  const [own, any, other] = [order.happened(), inactiveFor("1d"), inactiveFor("2d")];
  const states = {
    new: {},
    active: { to: { gone: own } },
    quiet: { to: { active: own } },
    gone: { terminal: true },
  } as const;
  const written = lifecycle({
    initial: "new",
    states: {
      ...states,
      active: { to: { quiet: other, gone: own } },
      quiet: { to: { gone: any, active: own } },
    },
  });
  const model = lifecycle({
    initial: "new",
    states,
    anyState: { to: { gone: any, quiet: () => other }, except: ["new"] },
  });
  const expected = lowered(written) as Lifecycle;
  // The state's own transition to the same target is tried after it.
  expected.states[1]!.transitions.unshift({ to: "gone", when: any[NODE] });
  expect(lowered(model)).toEqual(expected);
});

const where = { kind: "compare", property: "total", operator: "gte", value: 5 };

test.each<[node: object, on: Occasion]>([
  [{ kind: "event", of }, order],
  [{ kind: "event", of: { ...of, where } }, order.where((p) => p.total.atLeast(5))],
  [{ kind: "traitsChanged" }, traitsChanged],
  [{ kind: "segmentEntered", segment: "chosen" }, chosen.entered()],
  [{ kind: "segmentExited", segment: "chosen" }, chosen.exited()],
  [{ kind: "stateEntered", state: "new" }, stages.entered("new")],
  [{ kind: "stateExited", state: "new" }, stages.exited("new")],
  [{ kind: "journeyStarted", journey: "onboarding" }, onboarding.started()],
  [{ kind: "journeyStepCompleted", journey: "onboarding", step: "pay" }, onboarding.stepCompleted("pay")],
  [{ kind: "journeyCompleted", journey: "onboarding" }, onboarding.completed()],
  [{ kind: "journeyExpired", journey: "onboarding" }, onboarding.expired()],
  [{ kind: "bandEntered", band: "good" }, score.entered("good")],
  [{ kind: "bandExited", band: "good" }, score.exited("good")],
  [{ kind: "signalRaised", signal: "alarm" }, alarm.raised()],
  [{ kind: "signalCleared", signal: "alarm" }, alarm.cleared()],
])("what a rule may wait for becomes %j", (node, on) => {
  expect(lowered(rule("r", { on, then: emit("x") }))).toEqual({ id: "r", on: node, then: { kind: "emit", type: "x" } });
});

test.each<[node: object, then: Action]>([
  [{ kind: "addToSegment", segment: "chosen" }, addTo(chosen)],
  [{ kind: "removeFromSegment", segment: "chosen" }, removeFrom(chosen)],
  [{ kind: "emit", type: "upsell.ready" }, emit("upsell.ready")],
  [{ kind: "emit", type: "upsell.ready", message: "{name}" }, emit("upsell.ready", { message: "{name}" })],
  [{ kind: "raiseSignal", signal: "alarm" }, raise(alarm)],
  [{ kind: "clearSignal", signal: "alarm" }, clear(alarm)],
])("what a rule may do becomes %j", (node, then) => {
  expect(lowered(rule("r", { on: order, then }))).toEqual({ id: "r", on: { kind: "event", of }, then: node });
});

const seen = { id: "r", on: { kind: "event", of }, then: { kind: "emit", type: "x" } };
const CALL = { severity: "critical", message: "Call", for: "3d" } as const;
const onOrder = { on: order, then: emit("x") };

test.each<[node: object, part: Part<string, object>]>([
  [{ id: "chosen" }, chosen],
  [{ id: "s", when: happened }, segment("s", { when: order.happened() })],
  [{ id: "s", when: happened }, segment("s", { when: () => order.happened() })],
  [{ id: "s", ...CALL }, signal("s", CALL)],
  [{ id: "s", severity: "info", when: happened }, signal("s", { severity: "info", when: () => order.happened() })],
  [{ ...seen, when: happened, cooldown: "3d" }, rule("r", { ...onOrder, when: order.happened(), cooldown: "3d" })],
  [{ ...seen, when: happened, once: true }, rule("r", { ...onOrder, when: () => order.happened(), once: true })],
  [seen, rule("r", { ...onOrder, once: false })],
])("a segment, a signal or a rule becomes %j", (node, part) => {
  expect(lowered(part)).toEqual(node);
});

const filtered = order.where((p) => p.total.atLeast(5));

test.each<[node: object, measure: Measure]>([
  [{ kind: "count", of }, order.count()],
  [{ kind: "count", of: { ...of, where }, within: "30d" }, filtered.count().within("30d")],
  [{ kind: "latest", of, property: "total" }, order.latest("total")],
  [{ kind: "latest", of, property: "total", within: "1d" }, order.latest("total").within("1d")],
  [{ kind: "daysSince", which: "last", of }, daysSince(order)],
  [{ kind: "daysSince", which: "first", of: { ...of, where } }, daysSinceFirst(filtered)],
  [{ kind: "trait", trait: "seats" }, customer.seats],
])("a measure becomes %j", (node, measure) => {
  expect(scale(measure, { from: 0, to: 20 })[SCORE]).toEqual({ kind: "scale", of: node, from: 0, to: 20 });
});

test.each<[node: object, score: Score]>([
  [
    { kind: "steps", of: { kind: "count", of }, steps: [[7.5, 70]], otherwise: 5 },
    steps(order.count(), [[7.5, 70]], 5),
  ],
  [{ kind: "map", trait: "plan", values: { free: 30, pro: 70 } }, customer.plan.map({ free: 30, pro: 70 })],
])("a score becomes %j", (node, score) => {
  expect(score[SCORE]).toEqual(node);
});

test("a health score keeps the order of its components, and sorts its bands in descending order", () => {
  const score = scale(order.count(), { from: 0, to: 9 });
  const model = health({
    components: { use: { weight: 0.5, score }, growth: { weight: 1, score: () => score, absent: "skip" } },
    bands: { critical: 0, healthy: 70, at_risk: 40 },
  });
  expect(lowered(model)).toEqual({
    components: [
      { id: "use", weight: 0.5, score: score[SCORE] },
      { id: "growth", weight: 1, score: score[SCORE], absent: "skip" },
    ],
    bands: [
      { id: "healthy", from: 70 },
      { id: "at_risk", from: 40 },
      { id: "critical", from: 0 },
    ],
  });
});
