import { list, quote } from "./problem.js";
import type {
  Action,
  CompareOperator,
  Condition,
  EventSelector,
  Field,
  Measure,
  OccurrenceScope,
  PropertyCondition,
  Scalar,
  Score,
  Trigger,
} from "./types.js";

/** The parts of a snapshot in words, as explanations and comparisons show them. */

export const OPERATOR_WORDS: Readonly<Record<CompareOperator, string>> = {
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
export function comparisonText(operator: CompareOperator, value: Scalar | Scalar[]): string {
  return `${OPERATOR_WORDS[operator]} ${[value]
    .flat()
    .map((one) => JSON.stringify(one))
    .join(", ")}`;
}

/** `"project_created" where seats at least 5`. */
export function selectorText({ event, where }: EventSelector): string {
  return JSON.stringify(event) + (where === undefined ? "" : ` where ${conditionText(where)}`);
}

/** ` within 30d`, ` since the state was entered`; empty without a scope. */
export function scopeText({ within, since }: OccurrenceScope): string {
  if (within !== undefined) return ` within ${within}`;
  return since === undefined ? "" : ` ${sinceText(since)}`;
}

/** `since the state was entered`, `since "onboarding" started`. */
export function sinceText(since: NonNullable<OccurrenceScope["since"]>): string {
  return since === "state" ? "since the state was entered" : `since ${JSON.stringify(since.journey)} started`;
}

/** A condition in one line, with the words of its explanation: `count of "login" within 30d at least 3 and plan is "pro"`. */
export function conditionText(condition: Condition | PropertyCondition): string {
  switch (condition.kind) {
    case "all":
    case "any":
      return condition.conditions
        .map((part) => (part.kind === "all" || part.kind === "any" ? `(${conditionText(part)})` : conditionText(part)))
        .join(condition.kind === "all" ? " and " : " or ");
    case "not":
      return `not (${conditionText(condition.condition)})`;
    case "compare":
    case "count":
    case "aggregate":
    case "distinct":
    case "latest":
    case "daysSince":
    case "trait":
    case "health":
      return `${comparedText(condition)} ${comparisonText(condition.operator, condition.value)}`;
    case "exists":
      return `${condition.property} exists`;
    case "latestExists":
      return `${measureText({ ...condition, kind: "latest" })} exists`;
    case "sequence": {
      const { first, then, within, since } = condition;
      const text = `${selectorText(first)} then ${selectorText(then)} within ${within}`;
      return since === undefined ? text : `${text}, ${sinceText(since)}`;
    }
    case "traitExists":
      return `${condition.trait} exists`;
    case "traitDateWithin":
      return `${condition.trait} within ${condition.within}`;
    case "traitDatePassed":
      return `${condition.trait} passed${condition.by === undefined ? "" : ` by ${condition.by}`}`;
    case "inactiveFor":
      return `no event for ${condition.duration}`;
    case "activeWithin":
      return `any event within ${condition.duration}`;
    case "lifecycle":
      return `lifecycle ${oneOf(condition.states)}`;
    case "inState":
      return `in the lifecycle state for at least ${condition.atLeast}`;
    case "segment":
      return `in segment ${JSON.stringify(condition.segment)}`;
    case "journey":
      return `journey ${JSON.stringify(condition.journey)} ${oneOf(condition.statuses)}`;
    case "journeyStep": {
      const { journey, step, is } = condition;
      return `journey ${JSON.stringify(journey)} ${is === "current" ? "at step" : "has completed"} ${JSON.stringify(step)}`;
    }
    case "healthBand":
      return `health band ${oneOf(condition.bands)}`;
  }
}

/** A condition that compares a value with others. */
export type Comparison = Extract<Condition | PropertyCondition, { operator: CompareOperator }>;

/** What a comparison compares: `count of "login" within 30d`, `plan`, `health of adoption`. */
export function comparedText(comparison: Comparison): string {
  switch (comparison.kind) {
    case "compare":
      return comparison.property;
    case "health":
      return comparison.component === undefined ? "health" : `health of ${comparison.component}`;
    default:
      return measureText(comparison);
  }
}

/** `count of "login" within 30d`, `sum of amount of "invoice_paid"`, `days since the last "login"`, `seats`. */
export function measureText(measure: Measure): string {
  if (measure.kind === "trait") return measure.trait;
  return unscopedText(measure) + (measure.kind === "daysSince" ? "" : scopeText(measure));
}

/** The same without the window or the start from which occurrences count. */
export function unscopedText(measure: Exclude<Measure, { kind: "trait" }>): string {
  const of = selectorText(measure.of);
  switch (measure.kind) {
    case "count":
      return `count of ${of}`;
    case "aggregate":
      return `${measure.function} of ${measure.property} of ${of}`;
    case "distinct":
      return `distinct values of ${measure.property} of ${of}`;
    case "latest":
      return `latest of ${measure.property} of ${of}`;
    case "daysSince":
      return `days since the ${measure.which} ${of}`;
  }
}

/** As the author writes it: `string()`, `oneOf("web", "api")`, `array(number())`. Whether it is optional is not said. */
export function fieldText(field: Field): string {
  switch (field.type) {
    case "string":
      return field.enum === undefined ? "string()" : `oneOf(${list(field.enum)})`;
    case "array":
      return `array(${fieldText(field.items)})`;
    default:
      return `${field.type}()`;
  }
}

/** `scale of count of "login" within 30d from 0 to 20`, `steps of seats: up to 5 50, otherwise 100`, `map of plan: "free" 30, "pro" 70`. */
export function scoreText(score: Score): string {
  switch (score.kind) {
    case "scale":
      return `scale of ${measureText(score.of)} from ${score.from} to ${score.to}`;
    case "steps":
      return `steps of ${measureText(score.of)}: ${stepsText(score.steps)}, otherwise ${score.otherwise}`;
    case "map": {
      const values = Object.entries(score.values).map(([value, points]) => `${quote(value)} ${points}`);
      return `map of ${score.trait}: ${values.join(", ")}`;
    }
  }
}

/** `up to 2 100, up to 7 70`. */
export function stepsText(steps: readonly (readonly [limit: number, score: number])[]): string {
  return steps.map(([limit, points]) => `up to ${limit} ${points}`).join(", ");
}

/** What a rule runs on: `"ticket_opened" where severity is "high"`, `traits changed`, `segment "a" entered`. */
export function triggerText(on: Trigger): string {
  switch (on.kind) {
    case "event":
      return selectorText(on.of);
    case "traitsChanged":
      return "traits changed";
    case "segmentEntered":
    case "segmentExited":
      return `segment ${quote(on.segment)} ${on.kind === "segmentEntered" ? "entered" : "exited"}`;
    case "signalRaised":
    case "signalCleared":
      return `signal ${quote(on.signal)} ${on.kind === "signalRaised" ? "raised" : "cleared"}`;
  }
}

/** What a rule does: `add to segment "a"`, `emit "plan.reviewed"`, `raise signal "escalation"`. */
export function actionText(action: Action): string {
  switch (action.kind) {
    case "addToSegment":
      return `add to segment ${quote(action.segment)}`;
    case "removeFromSegment":
      return `remove from segment ${quote(action.segment)}`;
    case "emit":
      return `emit ${quote(action.type)}`;
    case "raiseSignal":
      return `raise signal ${quote(action.signal)}`;
    case "clearSignal":
      return `clear signal ${quote(action.signal)}`;
  }
}

/** `is trial`, `is one of trial, activated`. */
function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `is ${values[0]!}` : `is one of ${values.join(", ")}`;
}
