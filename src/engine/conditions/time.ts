/** Conditions that flip by time alone, without an operation: `nextChange` returns the instant of the next flip. */
import { LATEST_INSTANT, parseDuration, parseInstant } from "../../model/snapshot/duration.js";
import type { Condition } from "../../model/snapshot/types.js";
import { conditionText } from "../../model/snapshot/words.js";
import { type ConditionContext, LIFECYCLE_ITEM } from "../compile-context.js";
import { memberReader } from "../json.js";
import type { OpenCustomer } from "../open-customer.js";
import type { Json } from "../state/types.js";
import type { Leaf } from "./leaf.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** No event for a duration, or one within it. */
export function compileActivity(condition: Of<"inactiveFor" | "activeWithin">, context: ConditionContext): Leaf {
  context.reads.activity = true;
  const duration = parseDuration(condition.duration);
  const isActive = condition.kind === "activeWithin";
  // The last event leaves the half-open window exactly at its instant plus the duration; inactivity begins then.
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

/** At least this long in the current lifecycle state. */
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
  // The condition holds in [date + from, date + to).
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
  return instant > customer.clock && instant <= LATEST_INSTANT ? instant : Infinity;
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
