/** What to do where a value of one type stands where one of another is expected. */
import { EXPECTED_VALUES } from "../expected-values.js";
import { inWords, isFunction, nameOf } from "./words.js";

const CONDITIONS = new Set(["Condition", "Lazy"]);

/** What makes a condition of what is nearly one. */
const UNFINISHED: Readonly<Record<string, string>> = {
  Sequence: 'add .within("7d"), or how long the sequence may take',
  Quantity: "compare it, such as with .atLeast(3)",
  Count: "compare it, such as with .atLeast(3)",
  ScopedCount: "compare it, such as with .atLeast(3)",
  EventModel: "ask about the event, such as with .happened()",
  Occurrences: "ask about the event, such as with .happened()",
  SegmentModel: "ask about the segment, with .has()",
  ManualSegment: "ask about the segment, with .has()",
};

/** Types of which can be said what is one. */
const EXPECTED: Readonly<Record<string, string>> = {
  Occasion: EXPECTED_VALUES.on,
  Trigger: EXPECTED_VALUES.on,
  Action: EXPECTED_VALUES.then,
};

/** What to do about a value of the type `source` where one of the type `target` is expected, as the checker prints them. */
export function remedy(source: string, target: string): string {
  const given = nameOf(source) ?? "";
  const expected = nameOf(target) ?? "";
  const isCondition = CONDITIONS.has(expected) || inWords(target) === "a condition";
  if (isCondition && Object.hasOwn(UNFINISHED, given)) return UNFINISHED[given]!;
  if (isFunction(source)) return "call it, with ( and ) after its name";
  return Object.hasOwn(EXPECTED, expected) ? EXPECTED[expected]! : `give ${inWords(target)}`;
}
