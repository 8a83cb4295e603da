import type { OpenCustomer } from "../open-customer.js";
import type { HistoryPage, HistoryRequest, Order } from "./types.js";

/** Whether a position in order is later than another: by occurrence, then by acceptance if both occurred at the same instant. */
export function isLater(occurredAt: number, seq: number, than: Order): boolean {
  return occurredAt > than.occurredAt || (occurredAt === than.occurredAt && seq > than.seq);
}

export function isSamePlace(one: Order, other: Order): boolean {
  return one.occurredAt === other.occurredAt && one.seq === other.seq;
}

/** Binary search: the first index below `length` at which `holds`, which stays true from there on; `length` if there is none. */
export function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The index of the first of the ordered events that is later than a position; `events.length` if there is none. */
export function firstLater(events: readonly Order[], than: Order): number {
  return firstWhere(events.length, (index) => isLater(events[index]!.occurredAt, events[index]!.seq, than));
}

/**
 * Thrown if an evaluation needs evaluated events that are not loaded. The evaluation is pure: fetch what `request` asks for and
 * call again with the same state.
 */
export class HistoryNeeded extends Error {
  override readonly name = "HistoryNeeded";

  constructor(readonly request: HistoryRequest) {
    super(
      `the evaluation needs earlier events of ${JSON.stringify(request.event)}; ` +
        `fetch the events that this error's request asks for and evaluate again`,
    );
  }
}

/** @throws {HistoryNeeded} if the requested events are not loaded */
export function readHistory(customer: OpenCustomer, request: HistoryRequest): HistoryPage {
  const page = customer.history(request);
  if (page === undefined) throw new HistoryNeeded(request);
  return page;
}

/**
 * Reads evaluated events of one name, page by page, earliest first.
 *
 * @param take called with each event; returns false to stop reading
 * @returns whether everything requested was read
 * @throws {HistoryNeeded} if a page is not loaded
 */
export function scanHistory(
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

/** The last position in order before an occurrence. */
export function justBefore({ occurredAt, seq }: Order): Order {
  return { occurredAt, seq: seq - 1 };
}
