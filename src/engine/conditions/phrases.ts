import type { CompareOperator, OrderOperator, Scalar } from "../../model/snapshot/types.js";
import { comparisonText, OPERATOR_WORDS } from "../../model/snapshot/words.js";
import { DecimalSum } from "../decimal.js";
import type { Json } from "../state/types.js";

export { comparisonText, scopeText, selectorText } from "../../model/snapshot/words.js";

/** The longest text that an explanation shows in full. */
export const SHOWN_CHARACTERS = 100;

/** What a comparison asks for: the value or the values themselves, or how they compare. */
export function expectation(operator: CompareOperator, value: Scalar | Scalar[]): Json {
  return operator === "eq" || operator === "in" ? value : comparisonText(operator, value);
}

/** A value as an explanation shows it: long texts and lists are cut. */
export function shown(value: Json | undefined): Json {
  if (value === undefined) return null;
  if (typeof value === "object" && value !== null) return cut(JSON.stringify(value));
  return typeof value === "string" ? cut(value) : value;
}

/** What is to be added to a number so that a comparison holds. */
export function lacking(operator: OrderOperator, expected: number, actual: number): Json {
  const rest = difference(expected, actual);
  switch (operator) {
    case "gt":
    case "lt":
      return `${OPERATOR_WORDS[operator]} ${rest}`;
    case "ne":
      return "another value";
    default:
      return rest;
  }
}

/** What is to be added to a whole number so that a comparison holds. */
export function lackingWhole(operator: OrderOperator, expected: number, actual: number): Json {
  switch (operator) {
    case "gt":
      return Math.floor(expected) + 1 - actual;
    case "gte":
      return Math.ceil(expected) - actual;
    case "lt":
      return Math.ceil(expected) - 1 - actual;
    case "lte":
      return Math.floor(expected) - actual;
    default:
      return lacking(operator, expected, actual);
  }
}

function difference(expected: number, actual: number): number {
  const sum = new DecimalSum();
  sum.add(expected);
  sum.subtract(actual);
  return sum.toNumber();
}

function cut(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text;
  // Cut between characters, not within one.
  return `${[...text.slice(0, SHOWN_CHARACTERS)].slice(0, -1).join("")}…`;
}
