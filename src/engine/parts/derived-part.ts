import type { NextChange, Reads } from "../conditions/conditions.js";
import type { Json } from "../state/types.js";
import type { EvaluationContext } from "../state/evaluation-context.js";

/** A part of a model with a value of its own, derived from operations, time and the values of other items. */
export interface DerivedPart {
  name: string;
  reads: Reads;
  /** Brings the value up to date at the customer's clock, adds the effects, and tells whether the value changed. */
  run(customer: EvaluationContext): boolean;
  /** The earliest instant after the clock at which a condition consulted in the present state changes by time alone. */
  nextChange: NextChange;
  /** The value and why it is so. */
  explain(customer: EvaluationContext): { [key: string]: Json };
}

/** The least of some instants of change. */
export function earliest(changes: readonly NextChange[]): NextChange {
  if (changes.length === 0) return () => Infinity;
  if (changes.length === 1) return changes[0]!;
  return (customer) => {
    let next = Infinity;
    for (const change of changes) next = Math.min(next, change(customer));
    return next;
  };
}
