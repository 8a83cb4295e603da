import type { Condition } from "../snapshot/types.js";
import type { ConditionTest, NextChange } from "./conditions.js";
import type { StreamMemory } from "./types.js";
import type { Working } from "./working.js";

export interface CountOptions {
  operator: Extract<Condition, { kind: "count" }>["operator"];
  value: number;
  /** The window in milliseconds; undefined counts ever. */
  within: number | undefined;
  sinceState: boolean;
}

export interface CompiledCount {
  test: ConditionTest;
  nextChange: NextChange | null;
  /** How many of the latest occurrences the test reads. */
  capacity: number;
}

/**
 * A condition on the number of occurrences in a stream. All rest on one question: "are there at least n?", which the n-th
 * latest occurrence answers alone.
 */
export function compileCount(stream: number, options: CountOptions): CompiledCount {
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

function negated(count: CompiledCount): CompiledCount {
  return { ...count, test: (customer) => !count.test(customer) };
}

function compileAtLeast(stream: number, needed: number, options: CountOptions): CompiledCount {
  const { within, sinceState } = options;
  if (needed <= 0) return { test: () => true, nextChange: null, capacity: 0 };
  if (within === undefined && !sinceState) {
    return { test: (customer) => customer.streams[stream]!.count >= needed, nextChange: null, capacity: 0 };
  }
  const leavesAt = leavingInstant(stream, options);
  return {
    test: (customer) => leavesAt(customer, needed) > customer.clock,
    nextChange: within === undefined ? null : (customer) => pastIsNever(leavesAt(customer, needed), customer.clock),
    capacity: needed,
  };
}

function compileExactly(stream: number, value: number, options: CountOptions): CompiledCount {
  if (!Number.isInteger(value) || value < 0) return { test: () => false, nextChange: null, capacity: 0 };
  const enough = compileAtLeast(stream, value, options);
  const more = compileAtLeast(stream, value + 1, options);
  const test: ConditionTest = (customer) => enough.test(customer) && !more.test(customer);
  if (options.within === undefined) return { test, nextChange: null, capacity: more.capacity };

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
function leavingInstant(stream: number, options: CountOptions): (customer: Working, nth: number) => number {
  const { within = Infinity, sinceState } = options;
  return (customer, nth) => {
    const memory = customer.streams[stream]!;
    const at = memory.occurredAt.length - nth;
    if (at < 0 || (sinceState && !isSinceState(customer, memory, at))) return -Infinity;
    return memory.occurredAt[at]! + within;
  };
}

/** Whether an occurrence is at or after the entry of the lifecycle state, and later in order than what caused it. */
function isSinceState(customer: Working, memory: StreamMemory, at: number): boolean {
  const occurredAt = memory.occurredAt[at]!;
  if (occurredAt < customer.enteredAt) return false;
  if (occurredAt !== customer.enteredByOccurredAt) return occurredAt > customer.enteredByOccurredAt;
  return memory.seq[at]! > customer.enteredBySeq;
}

function pastIsNever(instant: number, clock: number): number {
  return instant > clock ? instant : Infinity;
}
