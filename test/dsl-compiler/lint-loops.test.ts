import { expect, test } from "vitest";

import { lint } from "../../src/dsl-compiler/lint/lint.js";
import type { Trigger } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import {
  addTo,
  all,
  any,
  clear,
  count,
  happened,
  inLifecycle,
  inSegment,
  inState,
  journeyIs,
  not,
  raise,
  removeFrom,
  rule,
  snapshotOf,
  stepCompleted,
  type Parts,
} from "../engine/support/builders.js";

function loopsIn(parts: Parts): [path: string, message: string][] {
  const parsed = parseSnapshot(snapshotOf({ events: { order: { properties: {} } }, ...parts }));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return lint(parsed.snapshot).flatMap(({ code, path, message }) => (code === "RULE_LOOP" ? [[path, message]] : []));
}

const entered = (segment: string): Trigger => ({ kind: "segmentEntered", segment });
const exited = (segment: string): Trigger => ({ kind: "segmentExited", segment });
const cleared = (signal: string): Trigger => ({ kind: "signalCleared", signal });
const inIt = (state: string): Trigger => ({ kind: "stateEntered", state });
const happens = (kind: "journeyStarted" | "journeyCompleted" | "journeyExpired"): Trigger => ({ kind, journey: "j" });
const order = happened("order");
const put = rule("order", addTo("g"));
const take = rule("order", removeFrom("g"));

test.each<[string, Parts, path: string]>([
  [
    "a signal that clears itself and is raised again",
    { signals: { bell: { for: "7d" } }, rules: { again: rule(cleared("bell"), raise("bell")) } },
    'the rule "again" causes its own trigger: signal "bell" raised, then signal "bell" cleared 7d later',
  ],
  [
    "a signal that clears itself when the rule's cooldown ends",
    { signals: { bell: { for: "7d" } }, rules: { again: rule(cleared("bell"), raise("bell"), { cooldown: "7d" }) } },
    'the rule "again" causes its own trigger: signal "bell" raised, then signal "bell" cleared 7d later',
  ],
  [
    "another rule",
    { segments: { g: null }, rules: { on: rule(exited("g"), addTo("g")), off: rule(entered("g"), removeFrom("g")) } },
    'the rule "on" causes its own trigger: segment "g" entered, then segment "g" exited by the rule "off"',
  ],
  [
    "segments that read the segment it changes",
    {
      segments: { g: null, reads: inSegment("g"), negates: not(inSegment("reads")) },
      rules: { r: rule(entered("negates"), addTo("g")), s: rule(exited("negates"), removeFrom("g")) },
    },
    'the rule "r" causes its own trigger: segment "g" entered, then segment "reads" entered, then segment "negates" exited, ' +
      'then segment "g" exited by the rule "s", then segment "reads" exited, then segment "negates" entered',
  ],
  [
    "the lifecycle",
    {
      states: { a: [["b", all(order, inSegment("g"))]], b: [["a", inState("1d")]] },
      segments: { g: null },
      rules: { r: rule(inIt("a"), addTo("g")) },
    },
    'the rule "r" causes its own trigger: segment "g" entered, then state "b" entered, then state "a" entered',
  ],
  [
    "a segment that reads the lifecycle",
    {
      states: { a: [["b", inSegment("g")]], b: [["a", not(inSegment("g"))]] },
      segments: { g: null, there: inLifecycle("b") },
      rules: { r: rule(exited("there"), addTo("g")), s: rule(entered("there"), removeFrom("g")) },
    },
    'the rule "r" causes its own trigger: segment "g" entered, then state "b" entered, then segment "there" entered, ' +
      'then segment "g" exited by the rule "s", then state "a" entered, then segment "there" exited',
  ],
  [
    "a journey that runs again",
    {
      journeys: { j: { start: inSegment("g"), steps: [["s", order]], repeat: true, expiresAfter: "2d" } },
      segments: { g: null },
      rules: { r: rule(happens("journeyExpired"), addTo("g")) },
    },
    'the rule "r" causes its own trigger: segment "g" entered, then journey "j" started, then journey "j" expired 2d later',
  ],
  [
    "the steps of a journey that runs again",
    {
      journeys: { j: { start: inSegment("g"), steps: [["s", inSegment("g")]], repeat: true } },
      segments: { g: null, done: stepCompleted("j", "s") },
      rules: { r: rule(happens("journeyCompleted"), addTo("g")) },
    },
    'the rule "r" causes its own trigger: segment "g" entered, then step "s" of journey "j" completed, ' +
      'then journey "j" completed',
  ],
])("a rule that causes its own trigger by %s is reported with the path", (_, parts, path) => {
  expect(loopsIn(parts)).toEqual([["rules[0].on", path]]);
});

test.each<[string, Parts]>([
  ["a segment that keeps its members", { segments: { g: null, sticky: any(order, inSegment("g")) }, rules: { r: rule(entered("sticky"), addTo("g")) } }],
  ["a segment that is emptied at once", { segments: { g: null }, rules: { put, r: rule(entered("g"), removeFrom("g")) } }],
  ["a segment that is filled again at once", { segments: { g: null }, rules: { put, take, r: rule(exited("g"), addTo("g")) } }],
  ["a cooldown longer than the loop", { signals: { bell: { for: "7d" } }, rules: { r: rule(cleared("bell"), raise("bell"), { cooldown: "8d" }) } }],
  ["a rule that acts once", { signals: { bell: { for: "7d" } }, rules: { r: rule(cleared("bell"), raise("bell"), { once: true }) } }],
  ["a signal without an end", { signals: { bell: {} }, rules: { r: rule(cleared("bell"), raise("bell")), s: rule("order", clear("bell")) } }],
  ["an action that nothing reads", { segments: { g: null, o: order }, rules: { r: rule(entered("o"), addTo("g")) } }],
  ["a state that only an event leads back to", { states: { a: [["b", inSegment("g")]], b: [["a", count("order", "gte", 1, { since: "state" })]] }, segments: { g: null }, rules: { r: rule(inIt("a"), addTo("g")) } }],
  ["a path through states that returns only by an event", { states: { n: [["t", inSegment("g")]], t: [["a", inState("1d")]], a: [["o", inState("1d")]], o: [["n", order]] }, segments: { g: null }, rules: { r: rule(inIt("a"), addTo("g")) } }],
  ["a journey that runs once", { journeys: { j: { start: inSegment("g"), steps: [["s", order]], expiresAfter: "2d" } }, segments: { g: null }, rules: { r: rule(happens("journeyExpired"), addTo("g")) } }],
  ["a journey status that no condition requires", { journeys: { j: { start: order, steps: [["s", inSegment("g")]], repeat: true } }, segments: { g: null, active: journeyIs("j", "active") }, rules: { r: rule(entered("active"), addTo("g")) } }],
])("%s is not a loop", (_, parts) => {
  expect(loopsIn(parts)).toEqual([]);
}); // oxfmt-ignore
