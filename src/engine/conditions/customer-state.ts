/** Conditions on the current state of a customer: its traits, lifecycle state, segments, journeys and health. */
import type { Condition } from "../../model/snapshot/types.js";
import { type ConditionContext, HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem } from "../compile-context.js";
import { memberReader } from "../json.js";
import type { OpenCustomer } from "../open-customer.js";
import type { JourneyRun } from "../state/types.js";
import { compileComparison, compileExists, compileOrder } from "./compare.js";
import type { Leaf } from "./leaf.js";
import { expectation, lacking, shown } from "./phrases.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** A comparison of a trait, or whether it is present. */
export function compileTrait(condition: Of<"trait" | "traitExists">, { snapshot }: ConditionContext): Leaf {
  const { trait } = condition;
  const field = Object.hasOwn(snapshot.traits, trait) ? snapshot.traits[trait] : undefined;
  const read = memberReader(trait);
  const isComparison = condition.kind === "trait";
  const test = isComparison ? compileComparison(field, condition.operator, condition.value) : compileExists(field);
  return {
    expected: isComparison ? expectation(condition.operator, condition.value) : "exists",
    test: (customer) => test(read(customer.traits)),
    actual: (customer) => shown(read(customer.traits)),
  };
}

export function compileLifecycle({ states }: Of<"lifecycle">, { reads }: ConditionContext): Leaf {
  reads.items.add(LIFECYCLE_ITEM);
  return isOneOf(states, ({ state }) => state);
}

function isOneOf(expected: string[], read: (customer: OpenCustomer) => string | null): Leaf {
  const set = new Set<string | null>(expected);
  return { expected, test: (customer) => set.has(read(customer)), actual: read };
}

export function compileSegment({ segment }: Of<"segment">, { reads, segmentIndex }: ConditionContext): Leaf {
  reads.items.add(segmentItem(segment));
  const index = segmentIndex.get(segment) ?? -1;
  const test = (customer: OpenCustomer): boolean => customer.enteredSegmentAt[index] !== undefined;
  return { expected: "member", test, actual: (customer) => (test(customer) ? "member" : "not a member") };
}

/** The status of a journey's current or last run. */
export function compileJourney({ journey, statuses }: Of<"journey">, context: ConditionContext): Leaf {
  const runOf = readJourney(journey, context);
  return isOneOf(statuses, (customer) => runOf(customer)?.status ?? "not_started");
}

/** The current step of a journey, or whether it has completed a step. */
export function compileJourneyStep({ journey, step, is }: Of<"journeyStep">, context: ConditionContext): Leaf {
  const runOf = readJourney(journey, context);
  if (is === "completed") {
    const completed = (customer: OpenCustomer): object => runOf(customer)?.steps ?? {};
    return {
      expected: [step],
      test: (customer) => Object.hasOwn(completed(customer), step),
      actual: (customer) => Object.keys(completed(customer)),
    };
  }
  const current = (customer: OpenCustomer): string | null => {
    const run = runOf(customer);
    return run?.status === "active" ? run.currentStep : null;
  };
  return { expected: step, test: (customer) => current(customer) === step, actual: current };
}

function readJourney(
  journey: string,
  { reads, journeyIndex }: ConditionContext,
): (customer: OpenCustomer) => JourneyRun | undefined {
  reads.items.add(journeyItem(journey));
  const index = journeyIndex.get(journey) ?? -1;
  return (customer) => customer.journeys[index];
}

/** A comparison of the overall health or of a component. Without a score only `ne` holds. */
export function compileHealth({ component, operator, value }: Of<"health">, { reads }: ConditionContext): Leaf {
  reads.items.add(HEALTH_ITEM);
  const compare = compileOrder(operator, value);
  const read = memberReader(component ?? "");
  const scoreOf = ({ health }: OpenCustomer): number | undefined => {
    if (health === null) return undefined;
    return component === undefined ? health.overall : (read(health.components) as number | undefined);
  };
  const expected = expectation(operator, value);
  return {
    expected,
    test(customer) {
      const score = scoreOf(customer);
      return score === undefined ? operator === "ne" : compare(score);
    },
    actual: (customer) => scoreOf(customer) ?? null,
    missing(customer) {
      const score = scoreOf(customer);
      return score === undefined ? expected : lacking(operator, value, score);
    },
  };
}

export function compileHealthBand({ bands }: Of<"healthBand">, { reads }: ConditionContext): Leaf {
  reads.items.add(HEALTH_ITEM);
  return isOneOf(bands, ({ health }) => health?.band ?? null);
}
