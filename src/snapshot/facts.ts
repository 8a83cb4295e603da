import type { Fact, Subject } from "./fact.js";
import type { CompareOperator, Field, Scalar } from "./types.js";

const NEGATED: Readonly<Partial<Record<CompareOperator, CompareOperator>>> = {
  eq: "ne",
  ne: "eq",
  in: "notIn",
  notIn: "in",
  lt: "gte",
  lte: "gt",
  gt: "lte",
  gte: "lt",
};

/** Longer lists are not compared with others. */
const VALUES_MAX = 20;

/** A comparison, or its negation. One that fails for want of a value is negated by that, too. */
export function compares(
  subject: Subject,
  node: { operator: CompareOperator; value: Scalar | readonly Scalar[] },
  holds: boolean,
): Fact[] {
  const operator = holds ? node.operator : NEGATED[node.operator];
  if (operator === undefined || (Array.isArray(node.value) && node.value.length > VALUES_MAX)) return [];
  return [
    {
      subject,
      operator,
      value: node.value,
      present:
        operator !== "ne" && operator !== "notIn" && (holds || node.operator === "ne" || node.operator === "notIn"),
    },
  ];
}

/** Something that is one of a few. */
export function isOneOf(subject: Subject, values: readonly Scalar[], holds: boolean): Fact[] {
  return compares(subject, { operator: "in", value: values }, holds);
}

/** That there is a value, or none; where there may be either, nothing is said. */
export function presence(key: string, label: string, there: boolean | undefined): Fact[] {
  if (there === undefined) return [];
  const subject: Subject = { key: `presence of ${key}`, label, values: [true, false], always: true };
  return [{ subject, operator: "eq", value: there, present: true, text: there ? "there" : "missing" }];
}

/** What a comparison says of its subject, and that the subject has a value. */
export function comparesField(
  subject: Subject,
  node: { operator: CompareOperator; value: Scalar | Scalar[] },
  holds: boolean,
): Fact[] {
  const facts = compares(subject, node, holds);
  return [...facts, ...presence(subject.key, subject.label, facts.some(({ present }) => present) || undefined)];
}

export const isDate = (field: Field | undefined) => (field?.type === "date" ? { date: true as const } : {});
