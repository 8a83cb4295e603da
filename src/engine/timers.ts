import type { CustomerState, Operation, TrackOperation } from "./state/types.js";

/** How far an event may occur before or after its acceptance and still count as happening now; the same as svc.punctual() in SQL. */
export const PUNCTUAL_MILLISECONDS = 5 * 60_000;
/** The timers of a customer are held for at most this long after its last event, even if late events keep arriving elsewhere. */
const HELD_AT_MOST_MILLISECONDS = 24 * 60 * 60_000;

/** Whether an event was so far in the future at its acceptance that it waits for its instant. */
export function isInFuture({ occurredAt, acceptedAt }: TrackOperation): boolean {
  return occurredAt > acceptedAt + PUNCTUAL_MILLISECONDS;
}

/** Whether an event was accepted so long after it occurred that it belongs to a backfill. */
export function isLateTrack({ occurredAt, acceptedAt }: { occurredAt: number; acceptedAt: number }): boolean {
  return acceptedAt > occurredAt + PUNCTUAL_MILLISECONDS;
}

/**
 * The settle rule: whether a customer's timers may fire up to now. While its history is still coming in (the last track
 * operation accepted was accepted more than five minutes after it occurred) they wait until the environment has settled,
 * because they would move the clock past events that are still to arrive.
 *
 * @param operations the operations about to be evaluated
 * @param environment `now` in milliseconds; `settled`: whether the environment has received no late event for a while
 */
export function timersMayFire(
  state: CustomerState,
  operations: readonly Operation[],
  { now, settled }: { now: number; settled: boolean },
): boolean {
  const until = timersHeldUntil(state, operations);
  return settled || until === null || now >= until;
}

/** The instant until which the settle rule holds a customer's timers at most; null if it does not hold them. */
export function timersHeldUntil(state: CustomerState, operations: readonly Operation[] = []): number | null {
  const last = lastTrackOf(state, operations);
  return last !== null && isLateTrack(last) ? last.acceptedAt + HELD_AT_MOST_MILLISECONDS : null;
}

function lastTrackOf(state: CustomerState, operations: readonly Operation[]): CustomerState["lastTrack"] {
  let last = state.lastTrack;
  for (const operation of operations) {
    if (operation.kind === "track" && (last === null || operation.seq > last.seq)) last = operation;
  }
  return last;
}
