import type { Condition, Duration } from "./condition.js";
import { condition } from "./condition.js";
import { guarded } from "./guarded.js";

/** Holds while no event of any kind has occurred for this long: from the last event + duration on. Without any event it counts from the
 * first evaluation. */
export function inactiveFor(duration: Duration): Condition {
  return condition({ kind: "inactiveFor", duration });
}

/** Holds while an event of any kind has occurred in the latest stretch of this length. It needs an event. */
export function activeWithin(duration: Duration): Condition {
  return condition({ kind: "activeWithin", duration });
}

/** The time in the present lifecycle state: `inState().atLeast("60d")`. */
export function inState(): { atLeast(duration: Duration): Condition } {
  return guarded(
    { atLeast: (duration: Duration) => condition({ kind: "inState", atLeast: duration }) },
    { owner: "the time in the state" },
  );
}
