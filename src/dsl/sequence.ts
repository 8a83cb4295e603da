import type { Condition as ConditionNode } from "../snapshot/types.js";
import type { Condition, Duration } from "./condition.js";
import { condition } from "./condition.js";
import { guarded } from "./guarded.js";
import type { Start } from "./scope.js";
import { sinceOf } from "./scope.js";
import type { Selection } from "./selection.js";
import { selectorOf } from "./selection.js";

/** Two events in order; how far apart they may be is still to be said. */
export interface Sequence {
  /** The second happens less than this long after the first. */
  within(duration: Duration): OpenSequence;
}

/** A sequence that holds from its first time on; `since` asks for both events after a start. */
export type OpenSequence = Condition & {
  /** Both happened since the present lifecycle state was entered, `since("state")`, or since a journey started, `since(onboarding)`. */
  since(start: Start): Condition;
};

/**
 * One event and then another: `sequence(trialStarted, invoicePaid).within("14d")`. Events that share an instant are in the order in which
 * they were accepted. Once it has happened it holds for good; with `since`, or in a step of a journey, for as long as the start is the same.
 */
export function sequence(first: Selection, then: Selection): Sequence {
  const guard = { owner: "a sequence" };
  const node = (within: Duration): ConditionNode => ({
    kind: "sequence",
    first: selectorOf(first),
    then: selectorOf(then),
    within,
  });
  const within = (duration: Duration) => {
    const since = (start: Start) => condition({ ...node(duration), since: sinceOf(start) } as ConditionNode);
    return guarded({ ...condition(node(duration)), since }, guard);
  };
  return guarded({ within }, guard);
}
