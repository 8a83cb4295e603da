import { list, quote } from "./problem.js";
import type * as Node from "./types.js";

/** The parts of a snapshot in words, as explanations and comparisons show them. */

export const OPERATOR_WORDS: Readonly<Record<Node.CompareOperator, string>> = {
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

/** `at least 3`, `is one of "pro", "enterprise"`. */
export function comparisonText(operator: Node.CompareOperator, value: Node.Scalar | Node.Scalar[]): string {
  return `${OPERATOR_WORDS[operator]} ${[value]
    .flat()
    .map((one) => JSON.stringify(one))
    .join(", ")}`;
}

/** `"project_created" where seats at least 5`. */
function selectorText({ event, where }: Node.EventSelector): string {
  return JSON.stringify(event) + (where === undefined ? "" : ` where ${conditionText(where)}`);
}

/** ` within 30d`, ` since the state was entered`; empty without a scope. */
function scopeText({ within, since, previous }: Node.OccurrenceScope & { previous?: true }): string {
  if (previous) return ` in the ${within} before the last ${within}`;
  if (within !== undefined) return ` within ${within}`;
  return since === undefined ? "" : ` ${sinceText(since)}`;
}

/** `since the state was entered`, `since "onboarding" started`. */
export function sinceText(since: NonNullable<Node.OccurrenceScope["since"]>): string {
  return since === "state" ? "since the state was entered" : `since ${JSON.stringify(since.journey)} started`;
}

type AnyCondition = Node.Condition | Node.PropertyCondition;
type Other = Exclude<AnyCondition, { kind: "all" | "any" } | Comparison>;

/** The conditions that neither combine nor compare. */
const WORDS: { readonly [K in Other["kind"]]: (condition: Extract<Other, { kind: K }>) => string } = {
  not: ({ condition }) => `not (${conditionText(condition)})`,
  exists: ({ property }) => `${property} exists`,
  latestExists: (condition) => `${measureText({ ...condition, kind: "latest" })} exists`,
  sequence: ({ first, then, within, since }) =>
    `${selectorText(first)} then ${selectorText(then)} within ${within}${since === undefined ? "" : `, ${sinceText(since)}`}`,
  traitExists: ({ trait }) => `${trait} exists`,
  traitDateWithin: ({ trait, within }) => `${trait} within ${within}`,
  traitDatePassed: ({ trait, by }) => `${trait} passed${by === undefined ? "" : ` by ${by}`}`,
  inactiveFor: ({ duration }) => `no event for ${duration}`,
  activeWithin: ({ duration }) => `any event within ${duration}`,
  lifecycle: ({ states }) => `lifecycle ${oneOf(states)}`,
  inState: ({ atLeast }) => `in the lifecycle state for at least ${atLeast}`,
  segment: ({ segment }) => `in segment ${JSON.stringify(segment)}`,
  journey: ({ journey, statuses }) => `journey ${JSON.stringify(journey)} ${oneOf(statuses)}`,
  journeyStep: ({ journey, step, is }) =>
    `journey ${JSON.stringify(journey)} ${is === "current" ? "at step" : "has completed"} ${JSON.stringify(step)}`,
  healthBand: ({ bands }) => `health band ${oneOf(bands)}`,
};

/** A condition in one line, as explanations word it: `count of "login" within 30d at least 3 and plan is "pro"`. */
export function conditionText(condition: AnyCondition): string {
  if ("operator" in condition)
    return `${comparedText(condition)} ${comparisonText(condition.operator, condition.value)}`;
  if (!("conditions" in condition)) return (WORDS[condition.kind] as (condition: Other) => string)(condition);
  return condition.conditions
    .map((part) => ("conditions" in part ? `(${conditionText(part)})` : conditionText(part)))
    .join(condition.kind === "all" ? " and " : " or ");
}

/** A condition that compares a value with one or more others. */
export type Comparison = Extract<Node.Condition | Node.PropertyCondition, { operator: Node.CompareOperator }>;

/** What a comparison compares: `count of "login" within 30d`, `plan`, `health of adoption`. */
export function comparedText(comparison: Comparison): string {
  if (comparison.kind === "compare") return comparison.property;
  if (comparison.kind !== "health") return measureText(comparison);
  return comparison.component === undefined ? "health" : `health of ${comparison.component}`;
}

/** `count of "login" within 30d`, `sum of amount of "invoice_paid"`, `days since the last "login"`, `seats`, `count of "login" per seats`. */
export function measureText(measure: Node.Measure): string {
  if (measure.kind === "trait") return measure.trait;
  if (measure.kind === "ratio") return `${operandText(measure.of)} per ${operandText(measure.per)}`;
  if (measure.kind === "difference") return `${operandText(measure.of)} minus ${operandText(measure.minus)}`;
  return unscopedText(measure) + (measure.kind === "daysSince" ? "" : scopeText(measure));
}

function operandText(measure: Node.Measure): string {
  return isCalculated(measure) ? `(${measureText(measure)})` : measureText(measure);
}

export function isCalculated(measure: { kind: string }): measure is Node.CalculatedMeasure {
  return measure.kind === "ratio" || measure.kind === "difference";
}

/** The text of a measure without its window or start. */
export function unscopedText(measure: Exclude<Node.Measure, { kind: "trait" } | Node.CalculatedMeasure>): string {
  const of = selectorText(measure.of);
  if (measure.kind === "count") return `count of ${of}`;
  if (measure.kind === "daysSince") return `days since the ${measure.which} ${of}`;
  const words = { distinct: "distinct values", latest: "latest" };
  return `${measure.kind === "aggregate" ? measure.function : words[measure.kind]} of ${measure.property} of ${of}`;
}

/** A field as the author writes it: `string()`, `oneOf("web", "api")`, `array(number())`; without `optional()`. */
export function fieldText(field: Node.Field): string {
  if (field.type === "array") return `array(${fieldText(field.items)})`;
  return field.type === "string" && field.enum !== undefined ? `oneOf(${list(field.enum)})` : `${field.type}()`;
}

/** `scale of count of "login" within 30d from 0 to 20`, `steps of seats: up to 5 50, otherwise 100`, `map of plan: "free" 30, "pro" 70`. */
export function scoreText(score: Node.Score): string {
  if (score.kind === "scale") return `scale of ${measureText(score.of)} from ${score.from} to ${score.to}`;
  if (score.kind === "steps")
    return `steps of ${measureText(score.of)}: ${stepsText(score.steps)}, otherwise ${score.otherwise}`;
  const values = Object.entries(score.values).map(([value, points]) => `${quote(value)} ${points}`);
  return `map of ${score.trait}: ${values.join(", ")}`;
}

/** `scale of seats from 0 to 20`, `scale of seats from 0 to 20; left out where it is absent`. @param text the text of its score */
export function componentText({ score, absent = 0 }: Node.HealthComponent, text = scoreText(score)): string {
  return absent === 0 ? text : `${text}; ${absentText(absent)} where it is absent`;
}

/** The score of a component whose measure is absent: `left out`, `30`. */
export function absentText(absent: NonNullable<Node.HealthComponent["absent"]>): string {
  return absent === "skip" ? "left out" : String(absent);
}

/** `up to 2 100, up to 7 70`. */
export function stepsText(steps: readonly (readonly [limit: number, score: number])[]): string {
  return steps.map(([limit, points]) => `up to ${limit} ${points}`).join(", ");
}

/** What a rule runs on: `"ticket_opened" where severity is "high"`, `traits changed`, `segment "a" entered`. */
export function triggerText(on: Node.Trigger): string {
  if (on.kind === "event") return selectorText(on.of);
  if (on.kind === "traitsChanged") return "traits changed";
  // Each kind ends with what happens: `journeyStepCompleted`.
  const [occurrence] = /[A-Z][a-z]+$/.exec(on.kind)!;
  return `${subjectText(on)} ${occurrence.toLowerCase()}`;
}

/** The part of a model that a trigger concerns: `state "at_risk"`, `step "invite_team" of journey "onboarding"`, `health band "critical"`. */
function subjectText(on: Exclude<Node.Trigger, { kind: "event" | "traitsChanged" }>): string {
  if ("state" in on) return `state ${quote(on.state)}`;
  if ("step" in on) return `step ${quote(on.step)} of journey ${quote(on.journey)}`;
  if ("journey" in on) return `journey ${quote(on.journey)}`;
  if ("band" in on) return `health band ${quote(on.band)}`;
  return "segment" in on ? `segment ${quote(on.segment)}` : `signal ${quote(on.signal)}`;
}

const ACTION_WORDS: Readonly<Record<Node.Action["kind"], string>> = {
  addToSegment: "add to segment",
  removeFromSegment: "remove from segment",
  emit: "emit",
  raiseSignal: "raise signal",
  clearSignal: "clear signal",
};

/** What a rule does: `add to segment "a"`, `emit "plan.reviewed"`, `emit "plan.reviewed" saying "{name} …"`, `raise signal "escalation"`. */
export function actionText(action: Node.Action): string {
  const what = action.kind === "emit" ? action.type : "segment" in action ? action.segment : action.signal;
  const message = action.kind === "emit" && action.message !== undefined ? ` saying ${quote(action.message)}` : "";
  return `${ACTION_WORDS[action.kind]} ${quote(what)}${message}`;
}

/** `is trial`, `is one of trial, activated`. */
function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `is ${values[0]!}` : `is one of ${values.join(", ")}`;
}
