import type { CustomerState, Operation, TrackOperation } from "./types.js";

/** How far an event may lie before or after its acceptance and still be taken as happening now. */
const PUNCTUAL_MILLISECONDS = 5 * 60_000;

/** Whether an event lay so far ahead at its acceptance that it waits for its instant. */
export function isAhead({ occurredAt, acceptedAt }: TrackOperation): boolean {
  return occurredAt > acceptedAt + PUNCTUAL_MILLISECONDS;
}

/** Whether an event was accepted so long after it occurred that it belongs to a backfill. */
export function isLateTrack({ occurredAt, acceptedAt }: { occurredAt: number; acceptedAt: number }): boolean {
  return acceptedAt > occurredAt + PUNCTUAL_MILLISECONDS;
}

/**
 * Whether a customer's history is still coming in: the last track operation accepted was accepted more than five minutes
 * after it occurred. Its timers are held until the environment has settled, because they would move the clock past what
 * is still to come.
 *
 * @param operations what is about to be evaluated, in order of acceptance: its last track operation decides, if any
 */
export function isBackfilling(state: CustomerState, operations: readonly Operation[] = []): boolean {
  let last = state.lastTrack;
  for (const operation of operations) {
    if (operation.kind === "track" && (last === null || operation.seq > last.seq)) last = operation;
  }
  return last !== null && isLateTrack(last);
}
