import { expect, test } from "vitest";

import type { Measure, Rule, Score, Signal, Snapshot } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { complete, health, journey, ordered, problemsOf } from "./sound.js";

const of = { event: "order placed" };
const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
const withRule = (parts: object) => ({
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "upsell.ready" }, ...parts }],
});

test("a snapshot with one of everything is sound", () => {
  const measures: Measure[] = [
    { kind: "count", of, within: "30d" },
    { kind: "aggregate", function: "max", of, property: "total", since: "state" },
    { kind: "distinct", of, property: "source", since: { journey: "onboarding" } },
    { kind: "latest", of, property: "total" },
    { kind: "daysSince", which: "first", of },
    { kind: "trait", trait: "seats" },
  ];
  const scores: Score[] = [
    ...measures.map((measure) => ({ kind: "scale", of: measure, from: 20, to: -5.5 }) as const),
    { kind: "steps", of: measures[4]!, steps: [[-1, 100], [2, 70.25], [7, 70]], otherwise: 0 }, // prettier-ignore
    { kind: "map", trait: "plan", values: { free: 0, pro: 100 } },
  ];
  const rules: Rule[] = [
    {
      id: "a",
      on: { kind: "event", of },
      when: ordered,
      cooldown: "30d",
      then: { kind: "addToSegment", segment: "chosen" },
    },
    { id: "b", on: { kind: "traitsChanged" }, once: true, then: { kind: "removeFromSegment", segment: "chosen" } },
    { id: "c", on: { kind: "segmentEntered", segment: "buyers" }, then: { kind: "raiseSignal", signal: "manual" } },
    { id: "d", on: { kind: "segmentExited", segment: "chosen" }, then: { kind: "clearSignal", signal: "manual" } },
    { id: "e", on: { kind: "signalRaised", signal: "ordered" }, then: { kind: "emit", type: "upsell.ready" } },
    { id: "f", on: { kind: "signalCleared", signal: "manual" }, then: { kind: "emit", type: "crm.account_1.touched" } },
  ];
  const signals: Signal[] = [
    { id: "manual", severity: "critical", message: "Call them.", for: "7d" },
    { id: "ordered", severity: "warning", when: ordered },
  ];
  const snapshot: Snapshot = {
    ...complete,
    journeys: [
      journey,
      {
        ...journey,
        id: "funnel",
        steps: [journey.steps[0]!, { ...journey.steps[1]!, since: "previousStep" }],
        expiresAfter: "30d",
      },
      { ...journey, id: "checklist", anyOrder: true, repeat: true },
    ],
    health: {
      components: scores.map((score, index) => ({ id: `c${index}`, weight: index / 2, score })),
      bands: [{ id: "good", from: 99.5 }, { id: "fair", from: 40 }, { id: "bad", from: 0 }], // prettier-ignore
    },
    rules,
    signals,
  };
  expect(parseSnapshot(snapshot)).toEqual({ ok: true, snapshot });
});

test("the numbers of journeys, steps, components, bands, rules and signals are limited", () => {
  const parts = (more: number) => ({
    journeys: [
      ...many(99 + more, (index) => ({ ...journey, id: `j${index}` })),
      { ...journey, steps: many(100 + more, (index) => ({ id: `s${index}`, when: ordered })) },
    ],
    segments: complete.segments,
    health: {
      components: many(100 + more, (index) => ({ ...health.components[0]!, id: `c${index}` })),
      bands: many(100 + more, (index) => ({ id: `b${index}`, from: (99 + more - index) / 2 })),
    },
    rules: many(500 + more, (index) => ({ ...withRule({}).rules[0], id: `r${index}` })),
    signals: many(500 + more, (index) => ({ id: `s${index}`, severity: "info" })),
  });
  expect(problemsOf(parts(0), complete)).toEqual([]);
  expect(problemsOf(parts(1), complete)).toEqual([
    "journeys TOO_MANY",
    "journeys[100].steps TOO_MANY",
    "health.components TOO_MANY",
    "health.bands TOO_MANY",
    "rules TOO_MANY",
    "signals TOO_MANY",
  ]);
});

test("references into a part that cannot be read are let pass: it is told once", () => {
  const problems = problemsOf(
    {
      journeys: [{ ...journey, steps: [{ id: "create" }, { id: "invite", when: ordered }] }, { id: "other" }],
      health: { ...health, bands: [{ id: "good", from: "50" }, ...health.bands] },
      segments: [
        ...complete.segments,
        { id: "a", when: { kind: "journeyStep", journey: "onboarding", step: "any", is: "completed" } },
        { id: "b", when: { kind: "journey", journey: "any", statuses: ["active"] } },
        { id: "c", when: { kind: "healthBand", bands: ["any"] } },
      ],
      signals: [{ id: "broken" }],
      rules: withRule({ then: { kind: "raiseSignal", signal: "any" } }).rules,
    },
    complete,
  );
  expect(problems).toEqual([
    "journeys[1].start INVALID_SHAPE",
    "journeys[1].steps INVALID_SHAPE",
    "journeys[0].steps[0].when INVALID_SHAPE",
    "health.bands[0].from INVALID_SHAPE",
    "signals[0].severity INVALID_SHAPE",
  ]);
});
