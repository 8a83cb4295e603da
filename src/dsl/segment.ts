import type { Segment as SegmentNode } from "../snapshot/types.js";
import type { Condition, Lazy } from "./condition.js";
import { condition, nodeOf } from "./condition.js";
import { resolve } from "./lifecycle.js";
import { located } from "./site.js";

/** A group that customers enter and leave. */
export interface SegmentModel {
  readonly id: string;
  /** The snapshot's part. It is made when it is asked for, because the condition may be given as a function. */
  readonly lower: () => SegmentNode;
  /** Holds while the customer is in this segment. */
  has(): Condition;
}

/**
 * Declares a segment: the customers for whom `when` holds, at every instant. A segment without a condition is changed by rules only.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter.
 */
export function segment(id: string, definition: { when?: Lazy<Condition> } = {}): SegmentModel {
  return located({
    id,
    lower: () => ("when" in definition ? { id, when: nodeOf(resolve(definition.when)) } : { id }),
    has: () => condition({ kind: "segment", segment: id }),
  });
}
