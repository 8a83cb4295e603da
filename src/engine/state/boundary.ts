import type { JourneyRun, Order } from "./types.js";
import type { EvaluationContext } from "./evaluation-context.js";

/**
 * From when on occurrences count: from the instant `at`, and later in order than the operation that caused it, which
 * occurred at `occurredAt` and was accepted as `seq`; both are -Infinity where no operation did. Replaced, never changed,
 * when it moves, so identity tells that it moved.
 */
export interface Boundary {
  readonly at: number;
  readonly occurredAt: number;
  readonly seq: number;
}

export type BoundaryOf = (customer: EvaluationContext) => Boundary;

/** Since this, nothing counts: what it would be the beginning of has not begun. */
export const NOTHING_COUNTS: Boundary = { at: Infinity, occurredAt: -Infinity, seq: -Infinity };
/** Since this, everything counts. */
export const EVERYTHING_COUNTS: Boundary = { at: -Infinity, occurredAt: -Infinity, seq: -Infinity };

export function boundaryAt(at: number, by: Order | null): Boundary {
  return { at, occurredAt: by?.occurredAt ?? -Infinity, seq: by?.seq ?? -Infinity };
}

/** What of a journey's present or last run its conditions count from. */
export interface JourneyBoundaries {
  start: Boundary;
  previousStep: Boundary;
  end: Boundary;
}

const NEVER_STARTED: JourneyBoundaries = {
  start: NOTHING_COUNTS,
  previousStep: NOTHING_COUNTS,
  end: EVERYTHING_COUNTS,
};

/**
 * The boundaries of a run, or of a journey that never started.
 *
 * @param steps ids of the journey's steps in the author's order; the run may have completed some of another version
 */
export function boundariesOf(run: JourneyRun | undefined, steps: readonly string[]): JourneyBoundaries {
  if (run === undefined) return NEVER_STARTED;
  const start = boundaryAt(run.startedAt, run.startedBy);
  const current = steps.findIndex((id) => !Object.hasOwn(run.steps, id));
  const previous = current > 0 ? run.steps[steps[current - 1]!] : undefined;
  const endedAt = run.completedAt ?? run.expiredAt;
  return {
    start,
    previousStep: previous === undefined ? start : boundaryAt(previous.completedAt, previous.by),
    end: endedAt === null ? NOTHING_COUNTS : boundaryAt(endedAt, run.endedBy),
  };
}

/** The place in order of the operation that caused a boundary; null where none did. */
export function orderOf({ occurredAt, seq }: Boundary): Order | null {
  return occurredAt === -Infinity ? null : { occurredAt, seq };
}

/** Whether an occurrence counts since a boundary. */
export function counts(boundary: Boundary, occurredAt: number, seq: number): boolean {
  if (occurredAt < boundary.at) return false;
  if (occurredAt !== boundary.occurredAt) return occurredAt > boundary.occurredAt;
  return seq > boundary.seq;
}

/** Since the present lifecycle state was entered. */
export const stateBoundary: BoundaryOf = (customer) => customer.stateBoundary;

/** Since the present or last run of a journey started. */
export function journeyStart(index: number): BoundaryOf {
  return (customer) => customer.journeyBoundaries[index]!.start;
}

/** Since the step before the current one completed; for the first step, since the start. */
export function previousStep(index: number): BoundaryOf {
  return (customer) => customer.journeyBoundaries[index]!.previousStep;
}

/** Since the last run of a journey ended; everything counts towards the first start. */
export function journeyEnd(index: number): BoundaryOf {
  return (customer) => customer.journeyBoundaries[index]!.end;
}
