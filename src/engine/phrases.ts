import type {
  CompareOperator,
  EventSelector,
  OccurrenceScope,
  OrderOperator,
  PropertyCondition,
  Scalar,
} from "../snapshot/types.js";
import { DecimalSum } from "./decimal.js";
import type { Json } from "./types.js";

const WORDS: Record<CompareOperator, string> = {
  eq: "is",
  ne: "is not",
  in: "is one of",
  notIn: "is none of",
  lt: "less than",
  lte: "at most",
  gt: "more than",
  gte: "at least",
  contains: "contains",
};

/** The longest text that an explanation shows in full. */
const SHOWN_CHARACTERS = 100;

/** `at least 3`, `is one of "pro", "enterprise"`. */
export function comparisonText(operator: CompareOperator, value: Scalar | Scalar[]): string {
  return `${WORDS[operator]} ${[value]
    .flat()
    .map((one) => JSON.stringify(one))
    .join(", ")}`;
}

/** What a comparison asks for: the value or the values themselves, or how they compare. */
export function expectation(operator: CompareOperator, value: Scalar | Scalar[]): Json {
  return operator === "eq" || operator === "in" ? value : comparisonText(operator, value);
}

/** `"project_created" where seats at least 5`. */
export function selectorText({ event, where }: EventSelector): string {
  return JSON.stringify(event) + (where === undefined ? "" : ` where ${propertyText(where)}`);
}

/** ` within 30d`, ` since the state was entered`; empty without a scope. */
export function scopeText({ within, since }: OccurrenceScope): string {
  if (within !== undefined) return ` within ${within}`;
  if (since === undefined) return "";
  return since === "state" ? " since the state was entered" : ` since ${JSON.stringify(since.journey)} started`;
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
      return `${WORDS[operator]} ${rest}`;
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

function propertyText(condition: PropertyCondition): string {
  switch (condition.kind) {
    case "all":
    case "any":
      return condition.conditions
        .map((inner) =>
          inner.kind === "all" || inner.kind === "any" ? `(${propertyText(inner)})` : propertyText(inner),
        )
        .join(condition.kind === "all" ? " and " : " or ");
    case "not":
      return `not (${propertyText(condition.condition)})`;
    case "exists":
      return `${condition.property} exists`;
    case "compare":
      return `${condition.property} ${comparisonText(condition.operator, condition.value)}`;
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
