import type { OccurrenceScope, Since } from "../model/snapshot/types.js";
import type { Condition, Duration } from "./condition.js";
import type { AnyJourney } from "./journey.js";

/** Since when occurrences count: the entry of the present lifecycle state, or the start of a journey's present or last run. */
export type Start = "state" | AnyJourney;

/**
 * Which occurrences are read. Without any of these it is all there ever were; at most one of them may be said. In a step of a journey,
 * what says no `since` counts from the journey's start (or the previous step).
 */
export interface Scopes<Result> {
  /** Only those of the latest stretch of time: those that occurred after `now - duration`, up to now. */
  within(duration: Duration): Result;
  /** Only those since the present lifecycle state was entered, `since("state")`, or since a journey's present or last run started,
   * `since(onboarding)`; none where it never started. The event that caused the start is not among them. */
  since(start: Start): Result;
}

/** A condition that is complete as it stands, for all time, and can still be narrowed to a stretch of time. */
export type OpenCondition = Condition & Scopes<Condition>;

/** The methods that narrow to a scope, each of which calls `narrow`. */
export function scopes<Result>(narrow: (scope: OccurrenceScope) => Result): Scopes<Result> {
  return {
    within: (duration) => narrow({ within: duration }),
    since: (start) => narrow({ since: sinceOf(start) }),
  };
}

/** The snapshot's word for a start. */
export function sinceOf(start: Start): Since {
  return typeof start === "object" ? { journey: start.id } : start;
}
