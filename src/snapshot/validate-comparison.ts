import { isIsoDate } from "./iso-date.js";
import type { Problems } from "./problem.js";
import { at, list, quote } from "./problem.js";
import { unknown } from "./scope.js";
import type { CompareOperator, Field, Scalar, ScalarType } from "./types.js";

const ORDERS: CompareOperator[] = ["lt", "lte", "gt", "gte"];

/** Which comparisons have a meaning for which type. */
const OPERATORS: Record<Field["type"], readonly CompareOperator[]> = {
  string: ["eq", "ne", "in", "notIn", "contains"],
  number: ["eq", "ne", "in", "notIn", ...ORDERS],
  boolean: ["eq", "ne"],
  date: ["eq", "ne", ...ORDERS],
  array: ["contains"],
};

/** Checks that a comparison fits the declared type of what it compares: operator, type of the value, enum. */
export function checkComparison(
  field: Field,
  node: { operator: CompareOperator; value: Scalar | Scalar[] },
  path: string,
  problems: Problems,
): void {
  const { operator, value } = node;
  if (!OPERATORS[field.type].includes(operator)) {
    const message = `a value of the type ${field.type} cannot be compared by "${operator}", only by ${list(OPERATORS[field.type])}`;
    problems.add(at(path, "operator"), "TYPE_MISMATCH", message);
    return;
  }
  const place = at(path, "value");
  const expected = expectedValue(field, operator);
  if (operator === "in" || operator === "notIn") {
    if (!Array.isArray(value)) problems.add(place, "TYPE_MISMATCH", `"${operator}" compares with a list of values`);
    else value.forEach((item, index) => checkValue(expected, item, at(place, index), problems));
  } else if (Array.isArray(value)) {
    problems.add(place, "TYPE_MISMATCH", `"${operator}" compares with one value, not with a list`);
  } else {
    checkValue(expected, value, place, problems);
  }
}

interface ExpectedValue {
  type: ScalarType;
  enum?: string[];
}

function expectedValue(field: Field, operator: CompareOperator): ExpectedValue {
  if (field.type === "array") return field.items;
  // A part of a text need not be one of the texts allowed.
  if (field.type === "string" && operator !== "contains") return field;
  return { type: field.type };
}

function checkValue(expected: ExpectedValue, value: Scalar, path: string, problems: Problems): void {
  const type = expected.type === "date" ? "string" : expected.type;
  if (typeof value !== type) {
    problems.add(path, "TYPE_MISMATCH", `must be of the type ${expected.type}, as declared`);
  } else if (expected.type === "date" && !isIsoDate(value as string)) {
    problems.add(
      path,
      "INVALID_VALUE",
      `${quote(value as string)} is neither an ISO 8601 date nor a date-time with a zone`,
    );
  } else if (expected.enum) {
    checkChoice(expected.enum, value as string, path, problems);
  }
}

/** Checks that a text is one of the values that its field declares. */
export function checkChoice(declared: readonly string[], value: string, path: string, problems: Problems): void {
  if (declared.includes(value)) return;
  const message = `${quote(value)} is none of the declared values ${list(declared)}`;
  unknown(problems, path, "INVALID_VALUE", message, value, declared);
}
