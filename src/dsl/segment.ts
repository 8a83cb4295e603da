import type { Segment as SegmentNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Lazy, nodeOf, resolve } from "./condition.js";
import { strictProxy } from "./mistakes.js";
import { type Part, part, trigger, type Trigger } from "./part.js";

/** A group that customers enter and leave. */
export interface SegmentModel extends Part<"segment", SegmentNode> {
  readonly id: string;
  /** Holds while the customer is in this segment. */
  has(): Condition;
  /** For a rule's `on`: the customer enters this segment. */
  entered(): Trigger;
  /** For a rule's `on`: the customer leaves this segment. */
  exited(): Trigger;
}

/** A segment without a condition: rules add customers to it and remove them. */
export interface ManualSegment extends SegmentModel {
  readonly manual: true;
}

/**
 * Declares a segment: the customers for whom `when` holds, at every instant. A segment without a condition is changed only by rules, with
 * `addTo` and `removeFrom`.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter.
 */
export function segment(id: string): ManualSegment;
export function segment(id: string, definition: { when: Lazy<Condition> }): SegmentModel;
export function segment(id: string, definition?: { when?: Lazy<Condition> }): SegmentModel | ManualSegment {
  const lower = (): SegmentNode =>
    definition && "when" in definition ? { id, when: nodeOf(resolve(definition.when)) } : { id };
  return strictProxy(
    {
      ...part("segment", lower, id),
      id,
      ...(definition && "when" in definition ? {} : { manual: true as const }),
      has: () => condition({ kind: "segment", segment: id }),
      entered: () => trigger({ kind: "segmentEntered", segment: id }),
      exited: () => trigger({ kind: "segmentExited", segment: id }),
    },
    { owner: `the segment ${JSON.stringify(id)}` },
  );
}
