import { canonicalJson } from "../snapshot/canonical.js";
import { isIsoDate, parseDuration } from "../snapshot/duration.js";
import type {
  CompareOperator,
  Condition,
  Journey,
  JourneyStep,
  Measure,
  PropertyCondition,
  Scalar,
} from "../snapshot/types.js";
import { conditionText } from "../snapshot/words.js";

type AnyCondition = Condition | PropertyCondition;

/** The values of its subject that meet a condition: the listed ones, or those between two ends. */
interface Demand {
  /** Equal for conditions on the same thing. */
  subject: string;
  values?: readonly Scalar[];
  from: number;
  to: number;
  /** Whether the ends themselves do not meet the condition. */
  isOpen: boolean;
}

/** With more parts than this, pairs are not compared: contradictions occur in small conditions, and the check must stay fast. */
const PARTS_MAX = 50;

const ANY = { from: -Infinity, to: Infinity, isOpen: false };

/** Why a condition can never hold, as far as its parts show; null if it may. The condition must be valid. */
export function neverHolds(condition: Condition): string | null {
  switch (condition.kind) {
    case "count":
    case "distinct":
    case "health": {
      const what = { count: "a count", distinct: "a number of different values", health: "a health score" };
      const { kind, operator, value } = condition;
      if (operator === "lt" && value === 0) return `${what[kind]} is never less than 0`;
      return kind === "health" && operator === "gt" && value === 100 ? `${what[kind]} is never more than 100` : null;
    }
    case "ratio": {
      const { operator, value } = condition;
      const isBelow = operator === "lt" ? value <= 0 : operator === "lte" && value < 0;
      return isBelow && isOfCounts(condition) ? "a ratio of counts is never less than 0" : null;
    }
    case "all":
      return condition.conditions.map(neverHolds).find((reason) => reason !== null) ?? neverTogether(condition);
    case "any": {
      const reasons = condition.conditions.map(neverHolds);
      return reasons.every(Boolean) ? (reasons[0] ?? null) : null;
    }
    default:
      return null;
  }
}

function isOfCounts(measure: Measure): boolean {
  if (measure.kind === "ratio") return isOfCounts(measure.of) && isOfCounts(measure.per);
  return measure.kind === "count" || measure.kind === "distinct";
}

/** Why a step can never be met; null if it may. Its condition is tested only while its journey is active and the step is unfinished. */
export function neverMet({ when, id: step }: JourneyStep, { id: journey, anyOrder }: Journey): string | null {
  const thisStep = { kind: "journeyStep", journey, step } as const;
  const given: Condition[] = [
    { kind: "journey", journey, statuses: ["active"] },
    { kind: "not", condition: { ...thisStep, is: "completed" } },
    ...(anyOrder ? [] : [{ ...thisStep, is: "current" } as const]),
  ];
  return neverHolds({ kind: "all", conditions: [...given, when] });
}

/**
 * Why two parts of a condition can never hold at once, if the two alone show it: one is the opposite of the other, or they require different
 * values of the same thing. Otherwise null; contradictions that need more analysis are not found.
 */
export function neverTogether(condition: AnyCondition): string | null {
  const parts = partsOf(condition);
  if (parts.length > PARTS_MAX) return null;
  for (const [index, one] of parts.entries()) {
    const other = parts.slice(0, index).find((before) => exclude(before, one));
    if (other) return `${conditionText(other)}; ${conditionText(one)}: these can never hold at once`;
  }
  return null;
}

/** The conditions that all have to hold at once. */
function partsOf(condition: AnyCondition): AnyCondition[] {
  return condition.kind === "all" ? condition.conditions.flatMap(partsOf) : [condition];
}

function exclude(one: AnyCondition, other: AnyCondition): boolean {
  if (isNegation(one, other) || isNegation(other, one)) return true;
  const [a, b] = [demandOf(one), demandOf(other)];
  if (!a || !b || a.subject !== b.subject) return false;
  if (a.values && b.values) return !a.values.some((value) => b.values!.includes(value));
  return isBelow(a, b) || isBelow(b, a);
}

function isNegation(one: AnyCondition, other: AnyCondition): boolean {
  return one.kind === "not" && canonicalJson(one.condition) === canonicalJson(other);
}

function isBelow(a: Demand, b: Demand): boolean {
  return a.to < b.from || (a.to === b.from && (a.isOpen || b.isOpen));
}

function demandOf(condition: AnyCondition): Demand | null {
  switch (condition.kind) {
    case "lifecycle":
      return { subject: "lifecycle", values: condition.states, ...ANY };
    case "healthBand":
      return { subject: "band", values: condition.bands, ...ANY };
    case "journey":
      return { subject: `journey ${condition.journey}`, values: condition.statuses, ...ANY };
    case "inactiveFor":
      return { subject: "silence", ...ANY, from: parseDuration(condition.duration) };
    case "activeWithin":
      return { subject: "silence", ...ANY, to: parseDuration(condition.duration), isOpen: true };
    default: {
      if (!("operator" in condition)) return null;
      const { operator, value, ...compared } = condition;
      const values = valuesOf(operator, value);
      return values && { subject: canonicalJson(compared), ...values };
    }
  }
}

function valuesOf(operator: CompareOperator, value: Scalar | Scalar[]): Omit<Demand, "subject"> | null {
  if (operator === "eq" || operator === "in") {
    const values = [value].flat();
    // The same instant can be written in several ways.
    if (values.some((one) => typeof one === "string" && isIsoDate(one))) return null;
    return typeof value === "number" ? { values, from: value, to: value, isOpen: false } : { values, ...ANY };
  }
  if (typeof value !== "number") return null;
  const isOpen = operator === "gt" || operator === "lt";
  if (operator === "gt" || operator === "gte") return { ...ANY, from: value, isOpen };
  return operator === "lt" || operator === "lte" ? { ...ANY, to: value, isOpen } : null;
}
