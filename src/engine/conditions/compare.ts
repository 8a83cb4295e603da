import { parseInstant } from "../../model/snapshot/duration.js";
import type { CompareOperator, Field, OrderOperator, PropertyCondition, Scalar } from "../../model/snapshot/types.js";
import { memberReader } from "../json.js";
import type { Json } from "../state/types.js";

export type ValueTest = (value: Json | undefined) => boolean;
export type PropertyTest = (properties: Record<string, Json>) => boolean;

/**
 * A comparison of a property or a trait. An absent value compares as false, and so does a value that is not of the declared type; `ne`
 * and `notIn` are the exact negations of `eq` and `in`. A field declared as a date is compared by its instant.
 */
export function compileComparison(
  field: Field | undefined,
  operator: CompareOperator,
  expected: Scalar | Scalar[],
): ValueTest {
  if (operator === "contains") return contains(field, expected);
  if (operator !== "eq" && operator !== "in" && operator !== "ne" && operator !== "notIn")
    return ordered(operator, expected);
  const equals = equalsOneOf(isDate(field), expected);
  return operator === "eq" || operator === "in" ? equals : (value) => !equals(value);
}

/** Whether a value is present: null counts as absent, and so does a value that is not of the declared type. */
export function compileExists(field: Field | undefined): ValueTest {
  return (value) => isOfType(field, value);
}

/** Whether a value is present and has the declared type, if one is declared. */
export function isOfType(field: Field | undefined, value: Json | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (field === undefined) return true;
  if (field.type === "date") return parseInstant(value) !== undefined;
  return field.type === (Array.isArray(value) ? "array" : typeof value);
}

/** Compiles a condition on the properties of one event. @param fields the declared fields of the event */
export function compilePropertyCondition(
  condition: PropertyCondition,
  fields: Readonly<Record<string, Field>>,
): PropertyTest {
  switch (condition.kind) {
    case "all":
    case "any": {
      const tests = condition.conditions.map((inner) => compilePropertyCondition(inner, fields));
      return condition.kind === "all"
        ? (properties) => tests.every((test) => test(properties))
        : (properties) => tests.some((test) => test(properties));
    }
    case "not": {
      const test = compilePropertyCondition(condition.condition, fields);
      return (properties) => !test(properties);
    }
    case "exists":
    case "compare": {
      const { property } = condition;
      const field = Object.hasOwn(fields, property) ? fields[property] : undefined;
      const read = memberReader(property);
      const test =
        condition.kind === "exists"
          ? compileExists(field)
          : compileComparison(field, condition.operator, condition.value);
      return (properties) => test(read(properties));
    }
  }
}

function isDate(field: Field | undefined): boolean {
  return field?.type === "date";
}

function equalsOneOf(asDate: boolean, expected: Scalar | Scalar[]): ValueTest {
  const values = Array.isArray(expected) ? expected : [expected];
  if (asDate) {
    const instants = new Set(values.map(parseInstant));
    instants.delete(undefined);
    return (value) => instants.has(parseInstant(value));
  }
  if (values.length === 1) {
    const [only] = values;
    return (value) => value === only;
  }
  const set = new Set<Json | undefined>(values);
  return (value) => set.has(value);
}

function contains(field: Field | undefined, expected: Scalar | Scalar[]): ValueTest {
  const equals = equalsOneOf(field?.type === "array" && field.items.type === "date", expected);
  return (value) => {
    if (!isOfType(field, value)) return false;
    if (Array.isArray(value)) return value.some(equals);
    return typeof value === "string" && typeof expected === "string" && value.includes(expected);
  };
}

function ordered(operator: "lt" | "lte" | "gt" | "gte", expected: Scalar | Scalar[]): ValueTest {
  const compare = COMPARISONS[operator];
  if (typeof expected === "number") return (value) => typeof value === "number" && compare(value, expected);
  const limit = Array.isArray(expected) ? undefined : parseInstant(expected);
  if (limit === undefined) return () => false;
  return (value) => {
    const instant = parseInstant(value);
    return instant !== undefined && compare(instant, limit);
  };
}

const COMPARISONS = {
  eq: (a: number, b: number) => a === b,
  ne: (a: number, b: number) => a !== b,
  lt: (a: number, b: number) => a < b,
  lte: (a: number, b: number) => a <= b,
  gt: (a: number, b: number) => a > b,
  gte: (a: number, b: number) => a >= b,
};

/** A comparison of two numbers, both present. */
export function compileOrder(operator: OrderOperator, expected: number): (value: number) => boolean {
  const compare = COMPARISONS[operator];
  return (value) => compare(value, expected);
}
