import type { Comparisons } from "./comparisons.js";
import { comparisons } from "./comparisons.js";
import type { Condition } from "./condition.js";
import { condition } from "./condition.js";
import { guarded } from "./guarded.js";
import type { Measure } from "./measure.js";
import type { Selection } from "./selection.js";
import { selectorOf } from "./selection.js";
import { MEASURE } from "./symbols.js";

/** A number of whole days, rounded down; absent where the event never happened, so that every comparison but `notEquals` is false. */
export type Days = Comparisons<Condition> & Measure;

/** The whole days since an event last happened: `daysSince(login).moreThan(7)`. In a step of a journey, only an occurrence since the
 * journey's start (or the previous step) counts. */
export function daysSince(event: Selection): Days {
  return days(event, "last");
}

/** The whole days since an event happened for the first time of all, whatever came after. */
export function daysSinceFirst(event: Selection): Days {
  return days(event, "first");
}

function days(event: Selection, which: "first" | "last"): Days {
  const node = { kind: "daysSince", which, of: selectorOf(event) } as const;
  return guarded(
    { ...comparisons((operator, value) => condition({ ...node, operator, value })), [MEASURE]: node },
    { owner: "a number of days", standIns: { measure: node } },
  );
}
