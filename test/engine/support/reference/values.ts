import type { Field, PropertyCondition, Scalar, Snapshot } from "../../../../src/model/snapshot/types.js";
import type { Json } from "../../../../src/engine/index.js";

/** The declared fields of an event. */
export function fieldsOf(snapshot: Snapshot, event: string): Record<string, Field> {
  return snapshot.events[event]?.properties ?? {};
}

/** The value of a member: undefined where it is absent, null, or of another type than declared. Declared dates are instants. */
export function read(values: Record<string, Json>, name: string, field: Field | undefined): Json | undefined {
  const given = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined;
  const value = field?.type === "date" ? instantOf(given) : given;
  return value !== undefined && isOfType(field, value) ? value : undefined;
}

/** Whether a value has the declared type. Any value has an undeclared one. */
function isOfType(field: Field | undefined, value: Json): boolean {
  if (field === undefined) return true;
  if (field.type === "array") return Array.isArray(value);
  if (field.type === "date") return typeof value === "number";
  return typeof value === field.type && (typeof value !== "number" || Number.isFinite(value));
}

/** A comparison as the model defines it: with an absent value it is false, unless it negates. */
export function compare(
  actual: Json | undefined,
  operator: string,
  expected: Scalar | Scalar[],
  field?: Field,
): boolean {
  const values = [expected].flat().map((value) => (field?.type === "date" ? instantOf(value) : value));
  const equal = actual !== undefined && values.includes(actual as Scalar);
  switch (operator) {
    case "eq":
    case "in":
      return equal;
    case "ne":
    case "notIn":
      return !equal;
    case "contains":
      if (Array.isArray(actual)) return actual.includes(expected);
      return typeof actual === "string" && typeof expected === "string" && actual.includes(expected);
    default:
      return isOrdered(actual, operator, values[0]);
  }
}

function isOrdered(actual: Json | undefined, operator: string, limit: Scalar | undefined): boolean {
  if (typeof actual !== "number" || typeof limit !== "number") return false;
  if (operator === "lt") return actual < limit;
  if (operator === "lte") return actual <= limit;
  return operator === "gt" ? actual > limit : actual >= limit;
}

export function matches(
  condition: PropertyCondition,
  properties: Record<string, Json>,
  fields: Record<string, Field>,
): boolean {
  switch (condition.kind) {
    case "all":
      return condition.conditions.every((inner) => matches(inner, properties, fields));
    case "any":
      return condition.conditions.some((inner) => matches(inner, properties, fields));
    case "not":
      return !matches(condition.condition, properties, fields);
    case "exists":
      return read(properties, condition.property, fields[condition.property]) !== undefined;
    case "compare": {
      const field = fields[condition.property];
      return compare(read(properties, condition.property, field), condition.operator, condition.value, field);
    }
  }
}

/** The instant of an ISO 8601 text, undefined for anything else. Tests use only plain dates and date-times with a zone. */
export function instantOf(value: Json | undefined): number | undefined {
  const instant = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isNaN(instant) ? undefined : instant;
}

/** The exact sum of numbers in decimal notation, divided, and rounded once. */
export function exactQuotient(values: readonly number[], divisor: number): number {
  const decimals = values.map((value) => {
    const [mantissa, exponent = "0"] = value.toString().split("e") as [string, string?];
    const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
    return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
  });
  const least = Math.min(0, ...decimals.map(({ exponent }) => exponent));
  const total = decimals.reduce((sum, { digits, exponent }) => sum + digits * 10n ** BigInt(exponent - least), 0n);
  // Enough additional digits that no double lies between the truncated number and the quotient.
  return Number(`${(total * 10n ** 1_000n) / BigInt(divisor)}e${least - 1_000}`);
}
