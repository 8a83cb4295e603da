import type { EventSelector, OccurrenceScope, OrderOperator } from "../../model/snapshot/types.js";
import { firstInScope } from "../aggregates/scope.js";
import type { ConditionTest, Leaf } from "../conditions/leaf.js";
import { comparisonText, expectation, lackingWhole, scopeText, selectorText } from "../conditions/phrases.js";
import { compileScope, type ConditionContext } from "../compile-context.js";
import type { BoundaryOf, EvaluationContext, NextChange, Stream } from "../evaluation-context.js";
import { counts } from "../state/boundary.js";
import type { Json } from "../state/types.js";
import { addStream } from "./measure.js";

interface CountOptions {
  operator: OrderOperator;
  value: number;
  /** The window in milliseconds; Infinity counts ever. */
  within: number;
  /** From when on occurrences count; undefined: from ever. */
  boundary: BoundaryOf | undefined;
}

type CountScope = Pick<CountOptions, "within" | "boundary">;

interface CompiledCount {
  test: ConditionTest;
  nextChange: NextChange | null;
  /** How many of the latest occurrences the test reads. */
  capacity: number;
}

/** A condition on the number of occurrences. */
export function compileCountLeaf(
  condition: { of: EventSelector; operator: OrderOperator; value: number } & OccurrenceScope,
  context: ConditionContext,
): Leaf {
  const { of, operator, value } = condition;
  const stream = addStream(context, of);
  const scope = compileScope(condition, context);
  const count = compileCount(stream.index, { operator, value, ...scope });
  stream.capacity = Math.max(stream.capacity, count.capacity);
  return {
    kind: "count",
    text: `count of ${selectorText(of)}${scopeText(condition)} ${comparisonText(operator, value)}`,
    expected: expectation(operator, value),
    test: count.test,
    nextChange: count.nextChange ?? undefined,
    actual: (customer) => {
      const number = countUpTo(customer, stream, scope);
      return mayBeMore(number, customer, stream, scope) ? `${number} or more` : number;
    },
    missing: (customer): Json => lackingWhole(operator, value, countUpTo(customer, stream, scope)),
  };
}

/**
 * A condition on the number of occurrences in a stream. All rest on one question: "are there at least n?", which the n-th
 * latest occurrence answers alone.
 */
function compileCount(stream: number, options: CountOptions): CompiledCount {
  const { operator, value } = options;
  switch (operator) {
    case "gte":
      return compileAtLeast(stream, Math.ceil(value), options);
    case "gt":
      return compileAtLeast(stream, Math.floor(value) + 1, options);
    case "lt":
      return negated(compileAtLeast(stream, Math.ceil(value), options));
    case "lte":
      return negated(compileAtLeast(stream, Math.floor(value) + 1, options));
    case "eq":
      return compileExactly(stream, value, options);
    case "ne":
      return negated(compileExactly(stream, value, options));
  }
}

/**
 * How many occurrences count, as far as every customer's memory is sure to tell: no more than the stream's capacity, unless
 * there is no scope.
 */
export function countUpTo(
  customer: EvaluationContext,
  { index, capacity }: Stream,
  { within, boundary }: CountScope,
): number {
  const { count, occurredAt, seq } = customer.streams[index]!;
  if (within === Infinity && boundary === undefined) return count;
  const { length } = occurredAt;
  // During a call there are more: what is counted must not depend on how operations come in calls.
  const earliest = Math.max(0, length - capacity);
  return length - firstInScope(customer, { within, boundary }, occurredAt, seq, earliest);
}

/** Whether there may be more occurrences than were counted. */
export function mayBeMore(
  number: number,
  customer: EvaluationContext,
  { index, capacity }: Stream,
  { within, boundary }: CountScope,
): boolean {
  if (within === Infinity && boundary === undefined) return false;
  return number >= capacity && number < customer.streams[index]!.count;
}

function negated(count: CompiledCount): CompiledCount {
  return { ...count, test: (customer) => !count.test(customer) };
}

function compileAtLeast(stream: number, needed: number, options: CountOptions): CompiledCount {
  const { within, boundary } = options;
  if (needed <= 0) return { test: () => true, nextChange: null, capacity: 0 };
  if (within === Infinity && boundary === undefined) {
    return { test: (customer) => customer.streams[stream]!.count >= needed, nextChange: null, capacity: 0 };
  }
  const leavesAt = leavingInstant(stream, options);
  return {
    test: (customer) => leavesAt(customer, needed) > customer.clock,
    nextChange: within === Infinity ? null : (customer) => pastIsNever(leavesAt(customer, needed), customer.clock),
    capacity: needed,
  };
}

function compileExactly(stream: number, value: number, options: CountOptions): CompiledCount {
  if (!Number.isInteger(value) || value < 0) return { test: () => false, nextChange: null, capacity: 0 };
  const enough = compileAtLeast(stream, value, options);
  const more = compileAtLeast(stream, value + 1, options);
  const test: ConditionTest = (customer) => enough.test(customer) && !more.test(customer);
  if (options.within === Infinity) return { test, nextChange: null, capacity: more.capacity };

  const leavesAt = leavingInstant(stream, options);
  return {
    test,
    nextChange: (customer) => {
      const surplusLeavesAt = leavesAt(customer, value + 1);
      const lastLeavesAt = value === 0 ? Infinity : leavesAt(customer, value);
      // Where both leave at once, the number passes the value without ever being it.
      if (surplusLeavesAt > customer.clock) return surplusLeavesAt < lastLeavesAt ? surplusLeavesAt : Infinity;
      return pastIsNever(lastLeavesAt, customer.clock);
    },
    capacity: more.capacity,
  };
}

/**
 * When the n-th latest occurrence that counts leaves the window: Infinity where there is no window, -Infinity where fewer
 * than n count. At least n count at an instant exactly if this lies after it.
 */
function leavingInstant(
  stream: number,
  { within, boundary }: CountOptions,
): (customer: EvaluationContext, nth: number) => number {
  return (customer, nth) => {
    const { occurredAt, seq } = customer.streams[stream]!;
    const at = occurredAt.length - nth;
    if (at < 0 || (boundary !== undefined && !counts(boundary(customer), occurredAt[at]!, seq[at]!))) return -Infinity;
    return occurredAt[at]! + within;
  };
}

function pastIsNever(instant: number, clock: number): number {
  return instant > clock ? instant : Infinity;
}
