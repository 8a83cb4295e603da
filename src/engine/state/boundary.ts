import type { Boundary, BoundaryOf, JourneyBoundaries } from "../evaluation-context.js";
import type { JourneyRun, Order } from "./types.js";

/** Since this, nothing counts: what it would be the beginning of has not begun. */
export const NOTHING_COUNTS: Boundary = { at: Infinity, occurredAt: -Infinity, seq: -Infinity };
/** Since this, everything counts. */
export const EVERYTHING_COUNTS: Boundary = { at: -Infinity, occurredAt: -Infinity, seq: -Infinity };

export function boundaryAt(at: number, by: Order | null): Boundary {
  return { at, occurredAt: by?.occurredAt ?? -Infinity, seq: by?.seq ?? -Infinity };
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
