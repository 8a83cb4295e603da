import { parseDuration } from "../../model/snapshot/duration.js";
import type { Condition } from "../../model/snapshot/types.js";
import { type ConditionContext, LIFECYCLE_ITEM } from "../compile-context.js";
import type { EvaluationContext } from "../evaluation-context.js";
import { memberReader } from "../json.js";
import type { Json } from "../state/types.js";
import { parseInstant } from "./compare.js";
import type { Leaf } from "./leaf.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** No event for a duration, or one within it. */
export function compileActivity(condition: Of<"inactiveFor"> | Of<"activeWithin">, context: ConditionContext): Leaf {
  context.reads.activity = true;
  const { kind } = condition;
  const duration = parseDuration(condition.duration);
  const isActive = kind === "activeWithin";
  const since = isActive ? (customer: EvaluationContext): number => customer.lastEventAt : quietSince;
  return {
    kind,
    text: isActive ? `any event within ${condition.duration}` : `no event for ${condition.duration}`,
    expected: isActive ? `an event within ${condition.duration}` : `no event for ${condition.duration}`,
    test: isActive
      ? (customer) => customer.lastEventAt + duration > customer.clock
      : (customer) => quietSince(customer) + duration <= customer.clock,
    // The last event leaves the half-open window exactly at its instant plus the duration; from then on it is inactivity.
    nextChange: (customer) => after(customer, since(customer) + duration),
    actual: (customer) => instantText("last event", customer.lastEventAt),
    missing: (customer) => (isActive ? "an event" : durationText(quietSince(customer) + duration - customer.clock)),
  };
}

/** At least this long in the present lifecycle state. */
export function compileInState(condition: Of<"inState">, context: ConditionContext): Leaf {
  context.reads.items.add(LIFECYCLE_ITEM);
  const atLeast = parseDuration(condition.atLeast);
  return {
    kind: "inState",
    text: `in the lifecycle state for at least ${condition.atLeast}`,
    expected: `at least ${condition.atLeast}`,
    test: (customer) => customer.enteredAt + atLeast <= customer.clock,
    nextChange: (customer) => after(customer, customer.enteredAt + atLeast),
    actual: (customer) => instantText("entered", customer.enteredAt),
    missing: (customer) =>
      customer.enteredAt === Infinity
        ? "a lifecycle state"
        : durationText(customer.enteredAt + atLeast - customer.clock),
  };
}

/** A date that is near, or has passed. */
export function compileDate(condition: Of<"traitDateWithin"> | Of<"traitDatePassed">): Leaf {
  const { trait } = condition;
  const read = memberReader(trait);
  const dateOf = (customer: EvaluationContext): number | undefined => parseInstant(read(customer.traits));
  const actual = (customer: EvaluationContext): Json => isoTime(dateOf(customer));
  if (condition.kind === "traitDateWithin") {
    const within = parseDuration(condition.within);
    return {
      kind: condition.kind,
      text: `${trait} within ${condition.within}`,
      expected: `within ${condition.within}`,
      test(customer) {
        const date = dateOf(customer);
        return date !== undefined && date - within <= customer.clock && customer.clock < date;
      },
      nextChange(customer) {
        const date = dateOf(customer);
        return date === undefined ? Infinity : Math.min(after(customer, date - within), after(customer, date));
      },
      actual,
    };
  }
  const by = condition.by === undefined ? 0 : parseDuration(condition.by);
  const passed = condition.by === undefined ? "passed" : `passed by ${condition.by}`;
  return {
    kind: condition.kind,
    text: `${trait} ${passed}`,
    expected: passed,
    test(customer) {
      const date = dateOf(customer);
      return date !== undefined && date + by <= customer.clock;
    },
    nextChange(customer) {
      const date = dateOf(customer);
      return date === undefined ? Infinity : after(customer, date + by);
    },
    actual,
  };
}

function quietSince(customer: EvaluationContext): number {
  return customer.lastEventAt === -Infinity ? customer.firstEvaluatedAt : customer.lastEventAt;
}

function after(customer: EvaluationContext, instant: number): number {
  return instant > customer.clock ? instant : Infinity;
}

function instantText(what: string, instant: number): Json {
  return Number.isFinite(instant) ? `${what} ${new Date(instant).toISOString()}` : null;
}

function isoTime(instant: number | undefined): Json {
  return instant === undefined ? null : new Date(instant).toISOString();
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
  return units
    .filter(([number]) => number > 0)
    .slice(0, 2)
    .map(([number, unit]) => `${number}${unit}`)
    .join(" ");
}
