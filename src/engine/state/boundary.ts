import type { BoundaryMemory, JourneyRun, Order } from "./types.js";

/**
 * The point from which occurrences count: at or after the instant `at`, and later in order than the operation that caused it,
 * which occurred at `occurredAt` and was accepted as `seq`; both are -Infinity if no operation did. A boundary that moves is
 * replaced, never mutated, so comparing identities is enough to notice it.
 */
export interface Boundary {
  readonly at: number;
  readonly occurredAt: number;
  readonly seq: number;
}

/** Nothing counts since this boundary: what it would begin has not begun. */
export const NOTHING_COUNTS: Boundary = { at: Infinity, occurredAt: -Infinity, seq: -Infinity };
export const EVERYTHING_COUNTS: Boundary = { at: -Infinity, occurredAt: -Infinity, seq: -Infinity };

export function boundaryAt(at: number, by: Order | null): Boundary {
  return { at, occurredAt: by?.occurredAt ?? -Infinity, seq: by?.seq ?? -Infinity };
}

/** The position of the operation that caused a boundary; null if none did. */
export function orderOf({ occurredAt, seq }: Boundary): Order | null {
  return occurredAt === -Infinity ? null : { occurredAt, seq };
}

export function openBoundary(memory: BoundaryMemory): Boundary {
  return memory === null ? NOTHING_COUNTS : boundaryAt(memory.at ?? -Infinity, memory.by);
}

export function boundaryMemory(boundary: Boundary | null): BoundaryMemory {
  if (boundary === null || boundary.at === Infinity) return null;
  return { at: boundary.at === -Infinity ? null : boundary.at, by: orderOf(boundary) };
}

export function isSameBoundary(a: Boundary, b: Boundary): boolean {
  return a.at === b.at && a.occurredAt === b.occurredAt && a.seq === b.seq;
}

/** Whether a boundary is later than another. No operation occurs after the instant of what it caused, so instants are compared first. */
export function isAfter(a: Boundary, b: Boundary): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.occurredAt !== b.occurredAt) return a.occurredAt > b.occurredAt;
  return a.seq > b.seq;
}

/** Whether an occurrence counts since a boundary. */
export function counts(boundary: Boundary, occurredAt: number, seq: number): boolean {
  if (occurredAt < boundary.at) return false;
  if (occurredAt !== boundary.occurredAt) return occurredAt > boundary.occurredAt;
  return seq > boundary.seq;
}

/** The boundaries in a journey's current or last run that its conditions count from. */
export interface JourneyBoundaries {
  start: Boundary;
  previousStep: Boundary;
  /** The end of the run. `EVERYTHING_COUNTS` before the first run, whose start condition counts everything. */
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
  const end = endedAt === null ? NOTHING_COUNTS : boundaryAt(endedAt, run.endedBy);
  // Aggregates rely on boundaries never moving back: if all steps are complete, the last one was completed at the end.
  if (current < 0) return { start, previousStep: end, end };
  return { start, previousStep: previous === undefined ? start : boundaryAt(previous.completedAt, previous.by), end };
}
