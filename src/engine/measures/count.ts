import type { EventSelector, OccurrenceScope, OrderOperator } from "../../model/snapshot/types.js";
import { nextFall } from "../aggregates/distinct.js";
import { type CompiledScope, firstInScope } from "../aggregates/scope.js";
import type { CompiledMeasure, ConditionContext, Reading } from "../compile-context.js";
import { addStream, capacityFor, compileScope } from "../compile-context.js";
import type { NextChange, OpenCustomer, Stream } from "../open-customer.js";
import { counts } from "../state/boundary.js";

/**
 * Counts compared with at least this number are kept as sums (of ones) instead of storing their occurrences, so that no state grows with
 * that number. Below it, the counts of all windows share the stored occurrences.
 */
const SUMMED_UP_FROM = 1_000;

type Test = (customer: OpenCustomer) => boolean;

/** A comparison of the number of occurrences. */
export interface CompiledCount extends CompiledMeasure {
  test: Test;
}

/** Whether a count with this reading is kept as a sum of ones. */
export function isSumOfOnes({ limits }: Reading): boolean {
  return Math.max(...limits) >= SUMMED_UP_FROM;
}

/** The number of occurrences, as precisely as a comparison needs it. */
export function compileCountComparison(
  condition: { of: EventSelector; operator: OrderOperator; value: number } & OccurrenceScope,
  context: ConditionContext,
): CompiledCount {
  const stream = addStream(context, condition.of, 0);
  const scope = compileScope(condition, context);
  const { test, nextChange, capacity } = compare(stream.index, condition.operator, condition.value, scope);
  stream.capacity = Math.max(stream.capacity, capacity);
  return { ...numberOf(stream, scope), test, nextChange };
}

/** The number of occurrences, as precisely as a reading needs it. */
export function compileCount(
  of: EventSelector,
  { scope, reading, context }: { scope: CompiledScope; reading: Reading; context: ConditionContext },
): CompiledMeasure {
  const stream = addStream(context, of, isScoped(scope) ? capacityFor(reading) : 0);
  const number = numberOf(stream, scope);
  return {
    ...number,
    nextChange: (customer) => {
      const { occurredAt } = customer.streams[stream.index]!;
      const first = occurredAt.length - number.value(customer);
      return nextFall(occurredAt, first, reading.of, reading.limits) + scope.within;
    },
  };
}

function isScoped({ within, boundary }: CompiledScope): boolean {
  return within !== Infinity || boundary !== undefined;
}

/** How many occurrences count. With a scope, at most the stream's capacity, which every customer's memory is sure to contain. */
function numberOf(
  stream: Stream,
  scope: CompiledScope,
): { value: (customer: OpenCustomer) => number; isBounded: Test } {
  const { index } = stream;
  if (!isScoped(scope)) return { value: (customer) => customer.streams[index]!.count, isBounded: () => false };
  const value = (customer: OpenCustomer): number => {
    const memory = customer.streams[index]!;
    const { length } = memory.seq;
    // During a call more are held. They are ignored, since the result must not depend on how operations are divided into calls.
    return length - firstInScope(customer, scope, memory, Math.max(0, length - stream.capacity));
  };
  const isBounded: Test = (customer) => {
    const number = value(customer);
    return number >= stream.capacity && number < customer.streams[index]!.count;
  };
  return { value, isBounded };
}

interface Comparison {
  test: Test;
  nextChange: NextChange | undefined;
  /** How many of the latest occurrences the test reads. */
  capacity: number;
}

/** All comparisons come down to the question "are there at least n?", which the n-th latest occurrence alone answers. */
function compare(stream: number, operator: OrderOperator, value: number, scope: CompiledScope): Comparison {
  if (operator === "eq") return exactly(stream, value, scope);
  if (operator === "gte") return atLeast(stream, Math.ceil(value), scope);
  if (operator === "gt") return atLeast(stream, Math.floor(value) + 1, scope);
  const opposite = ({ lt: "gte", lte: "gt", ne: "eq" } as const)[operator];
  const { test, ...count } = compare(stream, opposite, value, scope);
  return { ...count, test: (customer) => !test(customer) };
}

function always(met: boolean): Comparison {
  return { test: () => met, nextChange: undefined, capacity: 0 };
}

function atLeast(stream: number, needed: number, scope: CompiledScope): Comparison {
  if (needed <= 0) return always(true);
  if (!isScoped(scope)) return { ...always(true), test: (customer) => customer.streams[stream]!.count >= needed };
  const leavesAt = leavingInstant(stream, scope);
  return {
    test: (customer) => leavesAt(customer, needed) > customer.clock,
    nextChange:
      scope.within === Infinity ? undefined : (customer) => infinityIfPast(leavesAt(customer, needed), customer.clock),
    capacity: needed,
  };
}

function exactly(stream: number, value: number, scope: CompiledScope): Comparison {
  if (!Number.isInteger(value) || value < 0) return always(false);
  const enough = atLeast(stream, value, scope);
  const { test: isMore, capacity } = atLeast(stream, value + 1, scope);
  const leavesAt = leavingInstant(stream, scope);
  const nextChange: NextChange = (customer) => {
    const surplusLeavesAt = leavesAt(customer, value + 1);
    const lastLeavesAt = value === 0 ? Infinity : leavesAt(customer, value);
    // If both leave at once, the number skips the value.
    if (surplusLeavesAt > customer.clock) return surplusLeavesAt < lastLeavesAt ? surplusLeavesAt : Infinity;
    return infinityIfPast(lastLeavesAt, customer.clock);
  };
  return {
    test: (customer) => enough.test(customer) && !isMore(customer),
    nextChange: scope.within === Infinity ? undefined : nextChange,
    capacity,
  };
}

/**
 * When the n-th latest occurrence that counts leaves the window: Infinity without a window, -Infinity if fewer than n count.
 * At least n count at an instant if and only if the result is later than it.
 */
function leavingInstant(stream: number, { within, boundary }: CompiledScope) {
  return (customer: OpenCustomer, nth: number): number => {
    const { occurredAt, seq } = customer.streams[stream]!;
    const at = occurredAt.length - nth;
    if (at < 0 || (boundary !== undefined && !counts(boundary(customer), occurredAt[at]!, seq[at]!))) return -Infinity;
    return occurredAt[at]! + within;
  };
}

function infinityIfPast(instant: number, clock: number): number {
  return instant > clock ? instant : Infinity;
}
