import type { Order } from "./types.js";

/** Whether a place in order is later than another: by occurrence, and by acceptance where both occurred at one instant. */
export function isLater(occurredAt: number, seq: number, than: Order): boolean {
  return occurredAt > than.occurredAt || (occurredAt === than.occurredAt && seq > than.seq);
}

/** The position of the first of some events in order that is later than a place; their number where none is. */
export function firstLater(events: readonly Order[], than: Order): number {
  const last = events.at(-1);
  // Most are looked for at the end.
  if (last === undefined || !isLater(last.occurredAt, last.seq, than)) return events.length;
  let low = 0;
  let high = events.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { occurredAt, seq } = events[middle]!;
    if (isLater(occurredAt, seq, than)) high = middle;
    else low = middle + 1;
  }
  return low;
}
