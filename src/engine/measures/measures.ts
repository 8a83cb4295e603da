import type { EventSelector, Measure, OccurrenceScope } from "../../model/snapshot/types.js";
import { nextFall } from "../aggregates/distinct.js";
import { scopeText, selectorText } from "../conditions/phrases.js";
import { compileScope, type ConditionContext } from "../compile-context.js";
import { numberReader } from "../selection.js";
import { countUpTo, mayBeMore } from "./count.js";
import { addStream, capacityFor, type CompiledMeasure, type Reading } from "./measure.js";
import { compileDaysSince, compileDistinct, compileExtreme, compileLatestNumber, compileSum } from "./property.js";

/** A number that is computed of a customer's past, or that a trait holds, as far as a reading needs to know it. */
export function compileMeasure<V>(measure: Measure, reading: Reading<V>, context: ConditionContext): CompiledMeasure {
  switch (measure.kind) {
    case "count":
      return compileCountMeasure(measure, reading, context);
    case "aggregate":
      return measure.function === "sum" || measure.function === "avg"
        ? compileSum({ ...measure, function: measure.function }, reading, context)
        : compileExtreme({ ...measure, function: measure.function }, reading, context);
    case "distinct":
      return compileDistinct(measure, reading, context);
    case "latest":
      return compileLatestNumber(measure, reading, context);
    case "daysSince":
      return compileDaysSince(measure, reading, context);
    case "trait": {
      const read = numberReader(measure.trait);
      return {
        text: measure.trait,
        value: (customer) => read(customer.traits),
        isBounded: () => false,
        nextChange: undefined,
      };
    }
  }
}

function compileCountMeasure<V>(
  measure: { of: EventSelector } & OccurrenceScope,
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const stream = addStream(context, measure.of);
  const scope = compileScope(measure, context);
  if (scope.within !== Infinity || scope.boundary !== undefined) {
    stream.capacity = Math.max(stream.capacity, capacityFor(reading));
  }
  const { of, limits } = reading;
  return {
    text: `count of ${selectorText(measure.of)}${scopeText(measure)}`,
    value: (customer) => countUpTo(customer, stream, scope),
    isBounded: (customer) => mayBeMore(countUpTo(customer, stream, scope), customer, stream, scope),
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => {
            const { occurredAt } = customer.streams[stream.index]!;
            const first = occurredAt.length - countUpTo(customer, stream, scope);
            return nextFall(occurredAt, first, of, limits) + scope.within;
          },
  };
}
