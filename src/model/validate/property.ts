import { isIsoDate } from "../snapshot/duration.js";
import { LIMITS } from "../snapshot/limits.js";
import { at, list, type Problems, quote } from "../snapshot/problem.js";
import type {
  CompareOperator,
  EventSelector,
  Field,
  PropertyCondition,
  Scalar,
  ScalarType,
} from "../snapshot/types.js";
import { type Scope, unknown } from "./scope.js";
import { choose, fits, PROPERTY_CONDITIONS, SELECTOR } from "./shapes.js";

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

/** Checks which occurrences a condition reads: the event, and the filter on its properties. */
export function checkSelector(value: unknown, path: string, scope: Scope, depth: number): void {
  if (!fits(SELECTOR, value, path, scope.problems)) return;
  const { event, where } = value as EventSelector;
  if (!scope.events.has(event)) {
    const message = `there is no event ${quote(event)}`;
    unknown(scope.problems, at(path, "event"), "UNKNOWN_EVENT", message, event, scope.events.keys());
  }
  if (where === undefined) return;
  const properties = scope.events.get(event);
  checkPropertyCondition(where, at(path, "where"), { ...scope, event, properties }, depth + 1);
}

/**
 * The declared type of a property of the selected event; undefined where it cannot be told. Reported where the event has no such property.
 *
 * @param of a selector of any shape: what is wrong with it is reported elsewhere.
 */
export function propertyOf(of: unknown, property: string, path: string, scope: Scope): Field | undefined {
  const event = typeof of === "object" && of !== null ? (of as Partial<EventSelector>).event : undefined;
  if (typeof event !== "string") return undefined;
  return fieldOf(event, scope.events.get(event), property, path, scope);
}

function fieldOf(
  event: string,
  properties: Map<string, Field | undefined> | undefined,
  property: string,
  path: string,
  { problems }: Scope,
): Field | undefined {
  if (!properties) return undefined;
  if (!properties.has(property)) {
    const message = `the event ${quote(event)} has no property ${quote(property)}`;
    unknown(problems, path, "UNKNOWN_PROPERTY", message, property, properties.keys());
  }
  return properties.get(property);
}

interface PropertyScope extends Scope {
  event: string;
  properties: Map<string, Field | undefined> | undefined;
}

function checkPropertyCondition(value: unknown, path: string, scope: PropertyScope, depth: number): void {
  if (tooDeep(path, scope, depth)) return;
  if (!choose(PROPERTY_CONDITIONS, "kind", value, path, scope.problems)) return;
  const node = value as PropertyCondition;
  switch (node.kind) {
    case "all":
    case "any":
      node.conditions.forEach((part, index) =>
        checkPropertyCondition(part, at(at(path, "conditions"), index), scope, depth + 1),
      );
      break;
    case "not":
      checkPropertyCondition(node.condition, at(path, "condition"), scope, depth + 1);
      break;
    case "compare":
    case "exists": {
      const field = fieldOf(scope.event, scope.properties, node.property, at(path, "property"), scope);
      if (field && node.kind === "compare") checkComparison(field, node, path, scope.problems);
      break;
    }
  }
}

/** Whether conditions are within more others than allowed; reported where they are. */
export function tooDeep(path: string, scope: Scope, depth: number): boolean {
  if (depth <= LIMITS.conditionDepth) return false;
  scope.problems.add(path, "TOO_DEEP", `conditions are nested more than ${LIMITS.conditionDepth} deep`);
  return true;
}
