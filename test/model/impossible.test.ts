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
  ["them in a choice of nothing else", any(none, all(has, none))],
  ["two equal numbers", all(seats("eq", 3), seats("eq", 4))],
  ["an empty range", all(seats("gte", 5), seats("lt", 5))],
  ["two texts", all(plan("free"), plan("pro"))],
  ["silence and activity", all(activeWithin("3d"), inactiveFor("3d"))],
  ["a condition and its opposite", all(has, not(has))],
  ["the journey's own end", journeyIs("j", "complete", "expired")],
  ["the journey's own end, said the other way", not(journeyIs("j", "active"))],
  ["its own completion", at("two", "completed")],
  ["its own absence", not(at("two", "current"))],
])("a step that asks for %s can never be met", (_, when) => {
  expect(codesOf(when)).toEqual(IMPOSSIBLE);
});

test.each<[string, Condition, Partial<Journey>?]>([
  ["what may happen", count("order placed", "gte", 1)],
  ["a range of one number", all(seats("gte", 5), seats("lt", 6))],
  ["one of two of which one is impossible", any(none, has)],
  ["what another step completed", at("one", "completed")],
  ["its being the current one, where steps are in any order", not(at("two", "current")), { anyOrder: true }],
])("a step that asks for %s may be met", (_, when, parts) => {
  expect(codesOf(when, parts)).toEqual([]);
});

test("a step of very many parts is not looked at part by part", () => {
  const parts = Array.from({ length: 15_000 }, () => seats("eq", 1));
  expect(codesOf(all(...parts, seats("eq", 2)))).toEqual([]);
});
