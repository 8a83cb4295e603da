import type { Segment } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { earliest } from "../conditions/leaf.js";
import { segmentItem } from "../compile-context.js";
import type { DerivedPart, EvaluationContext, NextChange } from "../evaluation-context.js";

/** A segment with a condition: its membership is whether the condition holds. */
export function compileSegmentItem(
  segment: Required<Segment>,
  index: number,
  compiler: ConditionCompiler,
): DerivedPart {
  const changes: NextChange[] = [];
  const when = compiler.compile(segment.when, changes);
  return {
    name: segmentItem(segment.id),
    reads: compiler.reads,
    run: (customer) => changeMembership(customer, index, when.test(customer)),
    nextChange: earliest(changes),
    explain: (customer) => ({
      segment: segment.id,
      member: customer.enteredSegmentAt[index] !== undefined,
      condition: when.explain(customer),
    }),
  };
}

/** Makes the customer a member of a segment or not, and tells whether that is a change. */
export function changeMembership(customer: EvaluationContext, index: number, member: boolean): boolean {
  const enteredAt = customer.enteredSegmentAt[index];
  if (member === (enteredAt !== undefined)) return false;
  const segment = customer.model.segments[index]!;
  customer.setSegment(index, member ? customer.clock : undefined);
  if (enteredAt === undefined) customer.push({ kind: "segmentEntered", segment });
  else customer.push({ kind: "segmentExited", segment, enteredAt });
  customer.emit(member ? "segment.entered" : "segment.exited", "segment", { segment });
  return true;
}
