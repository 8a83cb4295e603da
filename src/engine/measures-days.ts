import type { EventSelector } from "../snapshot/types.js";
import { FirstAggregate, type FirstMemory } from "./aggregate-latest.js";
import { counts } from "./boundary.js";
import type { ConditionContext } from "./context.js";
import { addAggregate, addStream, keyOf, selectionOf, type CompiledMeasure, type Reading } from "./measure.js";
import { selectorText } from "./phrases.js";
import type { Working } from "./working.js";

const DAY = 86_400_000;

/** Whole days since the first occurrence of all, or since the last one that counts. */
export function compileDaysSince<V>(
  measure: { which: "first" | "last"; of: EventSelector },
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const since = measure.which === "first" ? compileFirst(measure.of, context) : compileLast(measure.of, context);
  const value = (customer: Working): number | undefined => {
    const instant = since(customer);
    return instant === -Infinity ? undefined : Math.floor((customer.clock - instant) / DAY);
  };
  const limits = [...new Set(reading.limits.flatMap((limit) => [Math.ceil(limit), Math.floor(limit) + 1]))];
  limits.sort((a, b) => a - b);
  return {
    text: `days since the ${measure.which} ${selectorText(measure.of)}`,
    value,
    isBounded: () => false,
    nextChange: (customer) => {
      const days = value(customer);
      if (days === undefined) return Infinity;
      const present = reading.of(days);
      const instant = since(customer);
      // Whatever is constant from tomorrow on changes at a limit.
      if (reading.of(days + 1) !== present) return instant + (days + 1) * DAY;
      const next = limits.find((limit) => limit > days && reading.of(limit) !== present);
      return next === undefined ? Infinity : instant + next * DAY;
    },
  };
}

/** The instant of the first occurrence of all. */
function compileFirst(of: EventSelector, context: ConditionContext): (customer: Working) => number {
  const scope = { within: Infinity, boundary: undefined };
  const selection = selectionOf<true>(of, () => true, context);
  const { index } = addAggregate(context, "first", keyOf("first", of, ""), scope, [of.event], (memory) => {
    return new FirstAggregate(selection, memory as FirstMemory | null);
  });
  return (customer) => (customer.aggregates[index] as FirstAggregate).occurredAt;
}

/** The instant of the last occurrence that counts. */
function compileLast(of: EventSelector, context: ConditionContext): (customer: Working) => number {
  const stream = addStream(context, of);
  stream.capacity = Math.max(stream.capacity, 1);
  const { boundary } = context;
  return (customer) => {
    const { occurredAt, seq } = customer.streams[stream.index]!;
    const at = occurredAt.length - 1;
    if (at < 0 || (boundary !== undefined && !counts(boundary(customer), occurredAt[at]!, seq[at]!))) return -Infinity;
    return occurredAt[at]!;
  };
}
