import { cut } from "../../model/snapshot/problem.js";
import type { CompareOperator, OrderOperator, Scalar } from "../../model/snapshot/types.js";
import { comparisonText, OPERATOR_WORDS } from "../../model/snapshot/words.js";
import { DecimalSum } from "../decimal.js";
import type { Json } from "../state/types.js";

/** The longest text that an explanation shows in full. */
export const SHOWN_CHARACTERS = 100;

/** What a comparison asks for: the value or values themselves for `eq` and `in`, otherwise a text such as `at least 3`. */
export function expectation(operator: CompareOperator, value: Scalar | Scalar[]): Json {
  return operator === "eq" || operator === "in" ? value : comparisonText(operator, value);
}

/** A value as an explanation shows it: long texts and lists are cut. */
export function shown(value: Json | undefined): Json {
  if (value === undefined) return null;
  if (typeof value === "object" && value !== null) return cut(JSON.stringify(value), SHOWN_CHARACTERS);
  return typeof value === "string" ? cut(value, SHOWN_CHARACTERS) : value;
}

/** What must be added to a number so that a comparison holds. */
export function lacking(operator: OrderOperator, expected: number, actual: number): Json {
  if (operator === "ne") return "another value";
  const gap = new DecimalSum();
  gap.add(expected);
  gap.subtract(actual);
  return operator === "gt" || operator === "lt" ? `${OPERATOR_WORDS[operator]} ${gap.toNumber()}` : gap.toNumber();
}

/** What must be added to a whole number so that a comparison holds. */
export function lackingWhole(operator: OrderOperator, expected: number, actual: number): Json {
  if (operator === "gt") return Math.floor(expected) + 1 - actual;
  if (operator === "gte") return Math.ceil(expected) - actual;
  if (operator === "lt") return Math.ceil(expected) - 1 - actual;
  return operator === "lte" ? Math.floor(expected) - actual : lacking(operator, expected, actual);
}
