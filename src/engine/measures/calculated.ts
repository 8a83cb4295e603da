import type { CalculatedMeasure, Measure } from "../../model/snapshot/types.js";
import { isCalculated } from "../../model/snapshot/words.js";
import type { CompiledMeasure, ConditionContext, SearchedReading } from "../compile-context.js";
import { NEVER } from "../conditions/leaf.js";
import type { OpenCustomer, Reads } from "../open-customer.js";
import { isSumOfOnes } from "./count.js";
import { nextChangeOf } from "./change-search.js";
import { compileSimpleMeasure } from "./measures.js";
import { compileCountOperand, compileOperand, toNumber } from "./operands.js";

/** Compiles a number that a condition compares or a score is computed from, as precisely as the reading needs it. */
export function compileMeasure<V extends boolean | number | undefined>(
  measure: Measure,
  reading: SearchedReading<V>,
  context: ConditionContext,
): CompiledMeasure {
  if (!isSearched(measure, reading)) return compileSimpleMeasure(measure, reading, context);

  // Collect what the calculation reads separately from the rest of its part of the model.
  const reads: Reads = { items: new Set(), streams: new Set(), aggregates: new Set(), activity: false };
  const isCount = measure.kind === "count" && !measure.previous;
  const operandContext = { ...context, reads, source: measure };
  const operand = isCount
    ? compileCountOperand(measure, operandContext, true)
    : compileOperand(measure, operandContext);
  for (const item of reads.items) context.reads.items.add(item);
  for (const stream of reads.streams) context.reads.streams.add(stream);
  for (const aggregate of reads.aggregates) context.reads.aggregates.add(aggregate);

  const value = (customer: OpenCustomer): number | undefined => toNumber(operand.exact(customer));
  const number = {
    ...operand,
    value,
    quotient: operand.quotient ?? { dividend: operand, divisor: null, isRoundedOnce: true },
    isGone: operand.isGone ?? (() => false),
    aggregates: [...reads.aggregates].filter(({ isMoving }) => isMoving),
  };
  return {
    value,
    nextChange: operand.nextInstant === NEVER ? undefined : nextChangeOf(number, reading, context, isCount),
    operands: (customer) => operand.explain(customer).operands,
  };
}

/** Whether the next change of a number by time alone has to be searched for, because it is computed from sums. */
export function isSearched(
  measure: Measure,
  reading: SearchedReading,
): measure is CalculatedMeasure | Extract<Measure, { kind: "count" | "aggregate" }> {
  if (measure.kind === "count") return measure.previous === true || isSumOfOnes(reading);
  if (measure.kind === "aggregate")
    return measure.previous === true || measure.function === "sum" || measure.function === "avg";
  return isCalculated(measure);
}
