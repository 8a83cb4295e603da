import type { Condition } from "../../model/snapshot/types.js";
import { type ConditionContext, HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem } from "../compile-context.js";
import type { EvaluationContext } from "../evaluation-context.js";
import { memberReader } from "../json.js";
import type { HealthScore, JourneyRun } from "../state/types.js";
import { compileComparison, compileExists, compileOrder } from "./compare.js";
import type { Leaf } from "./leaf.js";
import { comparisonText, expectation, lacking, shown } from "./phrases.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** A comparison of a trait, or whether it is there. */
export function compileTrait(condition: Of<"trait"> | Of<"traitExists">, { snapshot }: ConditionContext): Leaf {
  const { trait } = condition;
  const field = Object.hasOwn(snapshot.traits, trait) ? snapshot.traits[trait] : undefined;
  const read = memberReader(trait);
  const isComparison = condition.kind === "trait";
  const test = isComparison ? compileComparison(field, condition.operator, condition.value) : compileExists(field);
  return {
    kind: condition.kind,
    text: isComparison ? `${trait} ${comparisonText(condition.operator, condition.value)}` : `${trait} exists`,
    expected: isComparison ? expectation(condition.operator, condition.value) : "exists",
    test: (customer) => test(read(customer.traits)),
    actual: (customer) => shown(read(customer.traits)),
  };
}

export function compileLifecycle({ states }: Of<"lifecycle">, { reads }: ConditionContext): Leaf {
  reads.items.add(LIFECYCLE_ITEM);
  const set = new Set<string | null>(states);
  return {
    kind: "lifecycle",
    text: `lifecycle ${oneOf(states)}`,
    expected: states,
    test: (customer) => set.has(customer.state),
    actual: (customer) => customer.state,
  };
}

export function compileSegment({ segment }: Of<"segment">, { reads, segmentIndex }: ConditionContext): Leaf {
  reads.items.add(segmentItem(segment));
  const index = segmentIndex.get(segment) ?? -1;
  const test = (customer: EvaluationContext): boolean => customer.enteredSegmentAt[index] !== undefined;
  return {
    kind: "segment",
    text: `in segment ${JSON.stringify(segment)}`,
    expected: "member",
    test,
    actual: (customer) => (test(customer) ? "member" : "not a member"),
  };
}

/** The status of a journey's present or last run. */
export function compileJourney({ journey, statuses }: Of<"journey">, context: ConditionContext): Leaf {
  const runOf = readJourney(journey, context);
  const set = new Set<string>(statuses);
  const statusOf = (customer: EvaluationContext): string => runOf(customer)?.status ?? "not_started";
  return {
    kind: "journey",
    text: `journey ${JSON.stringify(journey)} ${oneOf(statuses)}`,
    expected: statuses,
    test: (customer) => set.has(statusOf(customer)),
    actual: statusOf,
  };
}

/** Where a journey stands, or whether it has completed a step. */
export function compileJourneyStep({ journey, step, is }: Of<"journeyStep">, context: ConditionContext): Leaf {
  const runOf = readJourney(journey, context);
  const isCurrent = is === "current";
  return {
    kind: "journeyStep",
    text: `journey ${JSON.stringify(journey)} ${isCurrent ? "at step" : "has completed"} ${JSON.stringify(step)}`,
    expected: isCurrent ? step : [step],
    test(customer) {
      const run = runOf(customer);
      if (run === undefined) return false;
      return isCurrent ? run.status === "active" && run.currentStep === step : Object.hasOwn(run.steps, step);
    },
    actual(customer) {
      const run = runOf(customer);
      if (!isCurrent) return Object.keys(run?.steps ?? {});
      return run?.status === "active" ? run.currentStep : null;
    },
  };
}

/** A comparison of the overall health or of a component. Without a score nothing holds. */
export function compileHealth({ component, operator, value }: Of<"health">, { reads }: ConditionContext): Leaf {
  reads.items.add(HEALTH_ITEM);
  const compare = compileOrder(operator, value);
  const read = component === undefined ? overall : componentReader(component);
  const scoreOf = ({ health }: EvaluationContext): number | undefined => (health === null ? undefined : read(health));
  return {
    kind: "health",
    text: `${component === undefined ? "health" : `health of ${component}`} ${comparisonText(operator, value)}`,
    expected: expectation(operator, value),
    test(customer) {
      const score = scoreOf(customer);
      return score !== undefined && compare(score);
    },
    actual: (customer) => scoreOf(customer) ?? null,
    missing(customer) {
      const score = scoreOf(customer);
      return score === undefined ? expectation(operator, value) : lacking(operator, value, score);
    },
  };
}

export function compileHealthBand({ bands }: Of<"healthBand">, { reads }: ConditionContext): Leaf {
  reads.items.add(HEALTH_ITEM);
  const set = new Set<string | undefined>(bands);
  return {
    kind: "healthBand",
    text: `health band ${oneOf(bands)}`,
    expected: bands,
    test: ({ health }) => set.has(health?.band),
    actual: ({ health }) => health?.band ?? null,
  };
}

function overall(health: HealthScore): number {
  return health.overall;
}

function componentReader(component: string): (health: HealthScore) => number | undefined {
  const read = memberReader(component);
  return ({ components }) => read(components) as number | undefined;
}

function readJourney(
  journey: string,
  { reads, journeyIndex }: ConditionContext,
): (customer: EvaluationContext) => JourneyRun | undefined {
  reads.items.add(journeyItem(journey));
  const index = journeyIndex.get(journey) ?? -1;
  return (customer) => customer.journeys[index];
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `is ${values[0]!}` : `is one of ${values.join(", ")}`;
}
