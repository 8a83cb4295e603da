import type { Order } from "./types.js";
import type { Working } from "./working.js";

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

export type BoundaryOf = (customer: Working) => Boundary;

/** Since this, nothing counts: what it would be the beginning of has not begun. */
export const NOTHING_COUNTS: Boundary = { at: Infinity, occurredAt: -Infinity, seq: -Infinity };
/** Since this, everything counts. */
export const EVERYTHING_COUNTS: Boundary = { at: -Infinity, occurredAt: -Infinity, seq: -Infinity };

export function boundaryAt(at: number, by: Order | null): Boundary {
  return { at, occurredAt: by?.occurredAt ?? -Infinity, seq: by?.seq ?? -Infinity };
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
