import type { HistoryEvent, HistoryPage, HistoryRequest, HistorySource } from "../engine/index.js";
import { firstLater, HistoryNeeded, isLater, isSamePlace } from "../engine/index.js";

type Order = HistoryRequest["after"];

/** All events of one name later than `after`, up to and including `through` (null: to the end), earliest first. */
interface Range {
  after: Order;
  through: Order | null;
  events: readonly HistoryEvent[];
}

/** Events of the first page: those of one property each may be large. */
const FIRST_PAGE_EVENTS = 500;
/** Each time, all that is at hand is gone through again; so pages grow. */
const PAGE_GROWTH = 4;

/** What of one customer's evaluated events was fetched so far, while the customer is being evaluated. */
export class HistoryCache {
  readonly #rangesOf = new Map<string, Range[]>();

  /** Takes in the answer to a request. */
  add({ event, after, until }: HistoryRequest, { events, complete }: HistoryPage): void {
    const ranges = this.#rangesOf.get(event);
    const range = { after, through: complete ? until : events.at(-1)!, events };
    if (ranges === undefined) this.#rangesOf.set(event, [range]);
    else ranges.push(range);
  }

  /** How many events the answer to a request should have: more than the answer that it goes on from. */
  pageSize({ event, after }: HistoryRequest): number {
    const before = this.#rangesOf.get(event)?.find(({ through }) => through !== null && isSamePlace(through, after));
    return before === undefined ? FIRST_PAGE_EVENTS : before.events.length * PAGE_GROWTH;
  }

  /** Answers a request from what is at hand, as far as that goes. */
  readonly source: HistorySource = ({ event, after, until }) => {
    for (const range of this.#rangesOf.get(event) ?? []) {
      if (isLater(range.after.occurredAt, range.after.seq, after)) continue;
      const from = firstLater(range.events, after);
      const to = until === null ? range.events.length : firstLater(range.events, until);
      const complete =
        range.through === null || (until !== null && !isLater(until.occurredAt, until.seq, range.through));
      if (complete || from < to) return { events: range.events.slice(from, to), complete };
    }
    return undefined;
  };
}

/** The answer to a request of the engine, and how much was read for it. */
export interface HistoryAnswer {
  page: HistoryPage;
  bytes: number;
}

/** How many events may be fetched for one customer, and how many bytes they may have: what is gone through in some hundredths of a second. */
const LIMITS = { events: 20_000, bytes: 32 * 1024 * 1024 };

/**
 * Asks the engine about one customer, fetching history as it is needed. Null where that would be more than the limits allow.
 *
 * @param ask calls the engine with what is at hand
 * @param fetch answers a request, with so many events at most, and some more within a millisecond
 */
export async function withHistory<T>(
  ask: (history: HistorySource) => T,
  fetch: (request: HistoryRequest, pageSize: number) => Promise<HistoryAnswer>,
  limits = LIMITS,
): Promise<{ answer: T } | null> {
  const history = new HistoryCache();
  let events = 0;
  let bytes = 0;
  for (;;) {
    try {
      return { answer: ask(history.source) };
    } catch (error) {
      if (!(error instanceof HistoryNeeded)) throw error;
      // Large events come in small pages.
      const eventsInRoom = events === 0 ? Infinity : Math.floor(((limits.bytes - bytes) * events) / bytes);
      const room = Math.min(history.pageSize(error.request), Math.max(1, eventsInRoom), limits.events - events);
      if (room <= 0 || bytes >= limits.bytes) return null;
      const answer = await fetch(error.request, room);
      history.add(error.request, answer.page);
      events += answer.page.events.length;
      bytes += answer.bytes;
    }
  }
}
