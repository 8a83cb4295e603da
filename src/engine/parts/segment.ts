import type { Segment } from "../../model/snapshot/types.js";
import { segmentItem } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import type { DerivedPart, OpenCustomer } from "../open-customer.js";

/** A segment with a condition: a customer is a member while the condition holds. */
export function compileSegmentItem(
  { id, when }: Required<Segment>,
  index: number,
  compiler: ConditionCompiler,
): DerivedPart {
  const condition = compiler.compile(when);
  return {
    name: segmentItem(id),
    reads: compiler.reads,
    run: (customer) => changeMembership(customer, index, condition.test(customer)),
    nextChange: condition.nextChange,
    explain: (customer) => ({
      segment: id,
      member: customer.enteredSegmentAt[index] !== undefined,
      condition: condition.explain(customer),
    }),
  };
}

/** Sets whether the customer is a member of a segment, and returns whether that is a change. */
export function changeMembership(customer: OpenCustomer, index: number, member: boolean): boolean {
  const enteredAt = customer.enteredSegmentAt[index];
  if (member === (enteredAt !== undefined)) return false;
  const segment = customer.model.segments[index]!;
  customer.setSegment(index, member ? customer.clock : undefined);
  if (enteredAt === undefined) customer.push({ kind: "segmentEntered", segment });
  else customer.push({ kind: "segmentExited", segment, enteredAt });
  const what = member ? "segment.entered" : "segment.exited";
  customer.noteOccasion(what, segment);
  customer.emit(what, "segment", { segment });
  return true;
}
