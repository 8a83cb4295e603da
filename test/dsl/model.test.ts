import { readFile } from "node:fs/promises";
import path from "node:path";
import {
  date,
  defineModel,
  event,
  number,
  string,
  tracking,
  traits,
  type ModelDefinition,
  display,
  emit,
  health,
  journey,
  lifecycle,
  rule,
  scale,
  segment,
  signal,
  step,
} from "svc-success";
import { expect, test } from "vitest";

import { lower } from "../../src/dsl-compiler/load/lower.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { model as circle } from "./circle.js";

const order = event("order", { total: number() });
const customer = traits({ company: string(), renewsOn: date(), seats: number() });
const of = { event: "order" };
const happened = { kind: "count", of, operator: "gte", value: 1 };

test("every part of a model has its place in the snapshot", () => {
  const { company, renewsOn, seats } = customer;
  const definition: ModelDefinition = {
    strictSchema: true,
    events: { order },
    traits: customer,
    lifecycle: lifecycle({ initial: "a", states: { a: { to: { b: order.happened() } }, b: { terminal: true } } }),
    journeys: [journey("j", { start: order.happened(), steps: [step("again", order.happened())] })],
    segments: { group: segment("group") },
    health: health({
      components: { use: { weight: 1, score: scale(order.count(), { from: 0, to: 9 }) } },
      bands: { all: 0 },
    }),
    rules: [rule("r", { on: order, then: emit("order.seen") })],
    signals: [signal("s", { severity: "info", when: order.happened() })],
    display: display({ name: company, owner: company, renewal: renewsOn, show: [seats, renewsOn] }),
  };
  const { snapshot, problems } = lower({ default: defineModel(definition) });
  expect(problems).toEqual([]);
  expect(parseSnapshot(snapshot)).toEqual({ ok: true, snapshot });
  expect(snapshot).toEqual({
    formatVersion: 1,
    strictSchema: true,
    events: { order: { properties: { total: { type: "number" } } } },
    traits: { company: { type: "string" }, renewsOn: { type: "date" }, seats: { type: "number" } },
    lifecycle: {
      initial: "a",
      states: [
        { name: "a", transitions: [{ to: "b", when: happened }] },
        { name: "b", terminal: true, transitions: [] },
      ],
    },
    journeys: [{ id: "j", start: happened, steps: [{ id: "again", when: happened }] }],
    segments: [{ id: "group" }],
    health: {
      components: [{ id: "use", weight: 1, score: { kind: "scale", of: { kind: "count", of }, from: 0, to: 9 } }],
      bands: [{ id: "all", from: 0 }],
    },
    rules: [{ id: "r", on: { kind: "event", of }, then: { kind: "emit", type: "order.seen" } }],
    signals: [{ id: "s", severity: "info", when: happened }],
    display: { name: "company", owner: "company", renewal: "renewsOn", show: ["seats", "renewsOn"] },
  });
});

test("a model defines how calls of the tracking API become operations, and how violations are handled", () => {
  const calls = tracking({ customer: ["groupId", "userId"], events: { "Order Completed": order } });
  const { snapshot, problems } = lower({
    default: defineModel({ strictSchema: true, onViolation: "quarantine", events: [order], tracking: calls }),
  });
  expect(problems).toEqual([]);
  expect(snapshot).toMatchObject({
    onViolation: "quarantine",
    tracking: { customer: ["groupId", "userId"], events: { "Order Completed": "order" } },
  });
  expect(parseSnapshot(snapshot)).toEqual({ ok: true, snapshot });
  const usual = lower({ default: defineModel({ events: [order], onViolation: "refuse", tracking: tracking({}) }) });
  for (const part of ["onViolation", "display"]) expect(usual.snapshot).not.toHaveProperty(part);
  expect(usual.snapshot).toMatchObject({ tracking: { customer: ["userId"], events: {} } });
});

test.each([
  [{ strictSchema: false, onViolation: "quarantine" }, "onViolation"],
  [{ onViolation: "keep" }, "onViolation"],
  [{ tracking: tracking({ customer: "accountId" as never }) }, "tracking.customer[0]"],
  [{ tracking: tracking({ customer: 7 as never }) }, "tracking.customer[0]"],
  [{ tracking: tracking({ customer: [] }) }, "tracking.customer"],
  [{ tracking: tracking({ events: { Order: order } }) }, "tracking.events.Order"],
])("an invalid definition of either is refused: %j", (definition, path) => {
  const { snapshot } = lower({ default: defineModel(definition as ModelDefinition) });
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: false, problems: [{ path }] });
});

test.each([
  ["journeys", [order], "NOT_A_JOURNEY", "journeys[0] is not a journey"],
  ["segments", { one: undefined }, "NOT_A_SEGMENT", "segments.one is not a segment"],
  ["rules", [signal("s", { severity: "info" })], "NOT_A_RULE", "rules[0] is not a rule"],
  ["signals", [segment("s")], "NOT_A_SIGNAL", "signals[0] is not a signal"],
  ["lifecycle", segment("s"), "NOT_A_LIFECYCLE", "lifecycle is not what lifecycle(…) returns"],
  ["traits", {}, "NOT_TRAITS", "traits is not what traits(…) returns"],
  ["health", null, "NOT_HEALTH", "health is not what health(…) returns"],
  ["display", [display({ name: customer.company })], "NOT_A_DISPLAY", "display is not what display(…) returns"],
  ["tracking", {}, "NOT_TRACKING", "tracking is not what tracking(…) returns"],
  ["events", [5], "NOT_AN_EVENT", "events[0] is not an event"],
])("%s: a value of another kind is refused", (part, value, code, message) => {
  const { problems } = lower({ default: defineModel({ [part]: value }) });
  expect(problems).toMatchObject([{ code, message }]);
});

test("a mark that an event is only recorded is not part of the snapshot", () => {
  const [plain, marked] = [order, event("order", { total: number() }).recordOnly()].map(
    (one) => lower({ default: defineModel({ events: [one] }) }).snapshot,
  );
  expect(marked).toEqual(plain);
});

test("a part exported under two names is one part of the model", () => {
  const group = segment("group");
  const { snapshot } = lower({ default: defineModel({ segments: { group, same: group } }) });
  expect(snapshot).toMatchObject({ segments: [{ id: "group" }] });
});

test("parts that all read each other make a valid model, and each has a source location, down to steps, scores, transitions and conditions", async () => {
  const source = (await readFile(path.join(import.meta.dirname, "circle.ts"), "utf8")).split("\n");
  const { stacks, snapshot, problems } = lower({ default: circle });
  expect(problems).toEqual([]);
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: true });
  const lines = new Map(
    stacks.map(([place, stack]) => [place, source[Number(/circle\.ts:(\d+)/.exec(stack)?.[1]) - 1]]),
  );
  const places: [string, string][] = [
    ["", "defineModel("],
    ["lifecycle", "stages = lifecycle("],
    ["lifecycle.states[0].transitions[0]", 'onboarding.is("complete")'],
    ["lifecycle.states[0].transitions[1].when", 'inactiveFor("30d")'],
    ["journeys[0]", 'journey("onboarding"'],
    ["journeys[0].start", 'stages.is("trial")'],
    ["journeys[0].steps[1]", 'step("invite"'],
    ["journeys[0].steps[2].when", "score.overall.atLeast(70)"],
    ["segments[0].when", 'all(stages.is("activated")'],
    ["segments[1].when.conditions[1]", 'score.component("use").atMost(10)'],
    ["health", "score = health("],
    ["health.components[0].score", "scale(login.count()"],
    ["health.components[1].score", "scale(daysSince(login)"],
    ["signals[0]", 'signal("alarm"'],
  ];
  for (const [place, text] of places) expect([place, lines.get(place)]).toEqual([place, expect.stringContaining(text)]);
});
