import { expect, test } from "vitest";
import type { Condition, Journey } from "../../src/model/snapshot/types.js";
import {
  activeWithin,
  all,
  any,
  count,
  inactiveFor,
  inSegment,
  journeyIs,
  not,
  trait,
} from "../engine/support/builders.js";
import { problemsOf } from "./sound.js";

const has = inSegment("chosen");
const none = count("order placed", "lt", 0);
const seats = (operator: "eq" | "lt" | "gte", value: number) => trait("seats", operator, value);
const plan = (value: string) => trait("plan", "eq", value);
const at = (step: string, is: "current" | "completed"): Condition => ({ kind: "journeyStep", journey: "j", step, is });

/** The codes of a journey whose second step has this condition. */
const codesOf = (when: Condition, parts: Partial<Journey> = {}) => {
  const steps = [
    { id: "one", when: has },
    { id: "two", when },
  ];
  return problemsOf({ journeys: [{ id: "j", start: has, steps, ...parts }] });
};
const IMPOSSIBLE = ["journeys[0].steps[1].when STEP_IMPOSSIBLE"];

test.each<[string, Condition]>([
  ["fewer than no occurrences", none],
  ["alternatives that are all impossible", any(none, all(has, none))],
  ["two equal numbers", all(seats("eq", 3), seats("eq", 4))],
  ["an empty range", all(seats("gte", 5), seats("lt", 5))],
  ["two texts", all(plan("free"), plan("pro"))],
  ["inactivity and activity", all(activeWithin("3d"), inactiveFor("3d"))],
  ["a condition and its opposite", all(has, not(has))],
  ["the journey's own end", journeyIs("j", "complete", "expired")],
  ["the journey's own end, expressed as a negation", not(journeyIs("j", "active"))],
  ["its own completion", at("two", "completed")],
  ["its own absence", not(at("two", "current"))],
])("a step that requires %s is reported as impossible", (_, when) => {
  expect(codesOf(when)).toEqual(IMPOSSIBLE);
});

test.each<[string, Condition, Partial<Journey>?]>([
  ["an event that can happen", count("order placed", "gte", 1)],
  ["a range of one number", all(seats("gte", 5), seats("lt", 6))],
  ["one of two alternatives of which one is impossible", any(none, has)],
  ["the completion of another step", at("one", "completed")],
  ["not being the current step, if steps are in any order", not(at("two", "current")), { anyOrder: true }],
])("a step that requires %s is accepted", (_, when, parts) => {
  expect(codesOf(when, parts)).toEqual([]);
});

test("a condition with very many parts is not checked pair by pair", () => {
  const parts = Array.from({ length: 15_000 }, () => seats("eq", 1));
  expect(codesOf(all(...parts, seats("eq", 2)))).toEqual([]);
});
