import type { Measure } from "../../model/snapshot/types.js";
import { isCalculated } from "../../model/snapshot/words.js";
import type { CompiledMeasure, ConditionContext, Reading } from "../compile-context.js";
import { NEVER } from "../conditions/leaf.js";
import type { OpenCustomer, Reads } from "../open-customer.js";
import { nextChangeOf } from "./look-ahead.js";
import { compileSimpleMeasure } from "./measures.js";
import { compileOperand, toNumber } from "./operands.js";

/** A number that conditions compare and scores are made of, as far as a reading needs to know it. */
export function compileMeasure<V>(measure: Measure, reading: Reading<V>, context: ConditionContext): CompiledMeasure {
  const ofPrevious = (measure.kind === "count" || measure.kind === "aggregate") && measure.previous;
  if (!ofPrevious && !isCalculated(measure)) return compileSimpleMeasure(measure, reading, context);

  // What the calculation reads is told apart from what else its part of the model does.
  const reads: Reads = { items: new Set(), streams: new Set(), aggregates: new Set(), activity: false };
  const { exact, explain, nextInstant, ...operand } = compileOperand(measure, { ...context, reads });
  for (const item of reads.items) context.reads.items.add(item);
  for (const stream of reads.streams) context.reads.streams.add(stream);
  for (const aggregate of reads.aggregates) context.reads.aggregates.add(aggregate);

  const value = (customer: OpenCustomer): number | undefined => toNumber(exact(customer));
  const number = { ...operand, value, nextInstant, aggregates: reads.aggregates };
  return {
    value,
    nextChange: nextInstant === NEVER ? undefined : nextChangeOf(number, reading as Reading),
    operands: (customer) => explain(customer).operands,
  };
}
