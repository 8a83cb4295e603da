import type { OpenCustomer } from "../open-customer.js";
import type { HistoryPage, HistoryRequest, Order } from "./types.js";

/** Whether a place in order is later than another: by occurrence, and by acceptance where both occurred at one instant. */
export function isLater(occurredAt: number, seq: number, than: Order): boolean {
  return occurredAt > than.occurredAt || (occurredAt === than.occurredAt && seq > than.seq);
}

export function isSamePlace(one: Order, other: Order): boolean {
  return one.occurredAt === other.occurredAt && one.seq === other.seq;
}

/** The first of so many places at which something holds that holds at all later ones; their number where it never does. */
export function firstWhere(places: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = places;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The position of the first of some events in order that is later than a place; their number where none is. */
export function firstLater(events: readonly Order[], than: Order): number {
  return firstWhere(events.length, (place) => isLater(events[place]!.occurredAt, events[place]!.seq, than));
}

/**
 * Thrown where an evaluation needs evaluated events that are not at hand. The evaluation is pure: fetch what `request`
 * names, and call again from the same state.
 */
export class HistoryNeeded extends Error {
  override readonly name = "HistoryNeeded";

  constructor(readonly request: HistoryRequest) {
    super(
      `the evaluation needs earlier events of ${JSON.stringify(request.event)}; ` +
        `fetch what the request of this error names and evaluate again`,
    );
  }
}

/** @throws {HistoryNeeded} if the answer is not at hand */
export function readHistory(customer: OpenCustomer, request: HistoryRequest): HistoryPage {
  const page = customer.history(request);
  if (page === undefined) throw new HistoryNeeded(request);
  return page;
}

/**
 * Reads evaluated events of one name, page by page, earliest first.
 *
 * @param take gets each event, and stops the reading by returning false
 * @returns whether everything asked for was read
 * @throws {HistoryNeeded} if a page is not at hand
 */
export function eachOfHistory(
  customer: OpenCustomer,
  request: HistoryRequest,
  take: (event: HistoryPage["events"][number]) => boolean,
): boolean {
  let { after } = request;
  for (;;) {
    const { events, complete } = readHistory(customer, { ...request, after });
    for (const event of events) if (!take(event)) return false;
    const last = events.at(-1);
    if (complete || last === undefined) return true;
    after = { occurredAt: last.occurredAt, seq: last.seq };
  }
}

/** The last place in order before an occurrence. */
export function justBefore({ occurredAt, seq }: Order): Order {
  return { occurredAt, seq: seq - 1 };
}
