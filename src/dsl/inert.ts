import type { Condition as ConditionNode, EventSelector, Measure as MeasureNode } from "../snapshot/types.js";
import { MEASURE, NODE, SCORE, SELECTOR, TRIGGER } from "./symbols.js";

/** The node of a condition that could not be made. It is sound wherever a condition may stand, so that validation has nothing to add to
 * what was recorded already; filters on properties leave it out. */
export const INERT_NODE: ConditionNode = { kind: "inactiveFor", duration: "1d" };

/** What an inert value says where a number or occurrences are asked for: something sound that is near the mistake. */
export interface StandIns {
  measure?: MeasureNode | undefined;
  selector?: EventSelector | undefined;
}

/** A value to go on with after a mistake that is recorded: it has every member, can be called, and is whatever is needed. */
export function inert({ measure, selector }: StandIns = {}): never {
  const nodes = new Map<string | symbol, unknown>([
    [NODE, INERT_NODE],
    [SELECTOR, selector],
    [MEASURE, measure],
    [SCORE, measure && { kind: "scale", of: measure, from: 0, to: 1 }],
    [TRIGGER, { kind: "traitsChanged" }],
  ]);
  const value: object = new Proxy(() => undefined, {
    get: (_, key) => (typeof key === "symbol" ? nodes.get(key) : value),
    apply: () => value,
  });
  // There is no type for what stands in for everything.
  return value as never;
}
