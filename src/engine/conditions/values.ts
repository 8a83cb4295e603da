import { parseDuration } from "../../model/snapshot/duration.js";
import type { Condition } from "../../model/snapshot/types.js";
import { conditionText } from "../../model/snapshot/words.js";
import { type ConditionContext, HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem } from "../compile-context.js";
import { memberReader } from "../json.js";
import type { OpenCustomer } from "../open-customer.js";
import type { JourneyRun, Json } from "../state/types.js";
import { compileComparison, compileExists, compileOrder, parseInstant } from "./compare.js";
import type { Leaf } from "./leaf.js";
import { expectation, lacking, shown } from "./phrases.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** No event for a duration, or one within it. */
export function compileActivity(condition: Of<"inactiveFor" | "activeWithin">, context: ConditionContext): Leaf {
  context.reads.activity = true;
  const duration = parseDuration(condition.duration);
  const isActive = condition.kind === "activeWithin";
  // The last event leaves the half-open window exactly at its instant plus the duration; from then on it is inactivity.
  const endsAt = (customer: OpenCustomer): number => {
    const { lastEventAt, firstEvaluatedAt } = customer;
    return (isActive || lastEventAt !== -Infinity ? lastEventAt : firstEvaluatedAt) + duration;
  };
  return {
    expected: isActive ? `an event within ${condition.duration}` : conditionText(condition),
    test: isActive ? (customer) => endsAt(customer) > customer.clock : (customer) => endsAt(customer) <= customer.clock,
    nextChange: (customer) => after(customer, endsAt(customer)),
    actual: (customer) => instantText("last event", customer.lastEventAt),
    missing: (customer) => (isActive ? "an event" : durationText(endsAt(customer) - customer.clock)),
  };
}

/** At least this long in the present lifecycle state. */
export function compileInState(condition: Of<"inState">, context: ConditionContext): Leaf {
  context.reads.items.add(LIFECYCLE_ITEM);
  const atLeast = parseDuration(condition.atLeast);
  return {
    expected: `at least ${condition.atLeast}`,
    test: (customer) => customer.enteredAt + atLeast <= customer.clock,
    nextChange: (customer) => after(customer, customer.enteredAt + atLeast),
    actual: (customer) => instantText("entered", customer.enteredAt),
    missing: ({ enteredAt, clock }) =>
      enteredAt === Infinity ? "a lifecycle state" : durationText(enteredAt + atLeast - clock),
  };
}

/** A date that is near, or has passed. */
export function compileDate(condition: Of<"traitDateWithin" | "traitDatePassed">): Leaf {
  const read = memberReader(condition.trait);
  const dateOf = (customer: OpenCustomer): number | undefined => parseInstant(read(customer.traits));
  const actual = (customer: OpenCustomer): Json => {
    const date = dateOf(customer);
    return date === undefined ? null : new Date(date).toISOString();
  };
  // It holds in [date + from, date + to).
  const isNear = condition.kind === "traitDateWithin";
  const by = isNear ? condition.within : condition.by;
  const length = by === undefined ? 0 : parseDuration(by);
  const [from, to] = isNear ? [-length, 0] : [length, Infinity];
  return {
    expected: isNear ? `within ${by}` : by === undefined ? "passed" : `passed by ${by}`,
    test(customer) {
      const date = dateOf(customer);
      return date !== undefined && date + from <= customer.clock && customer.clock < date + to;
    },
    nextChange(customer) {
      const date = dateOf(customer);
      return date === undefined ? Infinity : Math.min(after(customer, date + from), after(customer, date + to));
    },
    actual,
  };
}

function after(customer: OpenCustomer, instant: number): number {
  return instant > customer.clock ? instant : Infinity;
}

function instantText(what: string, instant: number): Json {
  return Number.isFinite(instant) ? `${what} ${new Date(instant).toISOString()}` : null;
}

/** `2d 4h`: at most two units, rounded up to a minute. */
function durationText(milliseconds: number): Json {
  if (!Number.isFinite(milliseconds)) return null;
  const minutes = Math.ceil(milliseconds / 60_000);
  const units = [
    [Math.floor(minutes / 1_440), "d"],
    [Math.floor(minutes / 60) % 24, "h"],
    [minutes % 60, "m"],
  ] as const;
  const shownUnits = units.filter(([number]) => number > 0).slice(0, 2);
  return shownUnits.map(([number, unit]) => `${number}${unit}`).join(" ");
}

/** A comparison of a trait, or whether it is there. */
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

/** The status of a journey's present or last run. */
export function compileJourney({ journey, statuses }: Of<"journey">, context: ConditionContext): Leaf {
  const runOf = readJourney(journey, context);
  return isOneOf(statuses, (customer) => runOf(customer)?.status ?? "not_started");
}

/** Where a journey stands, or whether it has completed a step. */
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

/** A comparison of the overall health or of a component. Without a score only the negation holds. */
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
