import type { HistoryEvent, HistoryPage, HistoryRequest, HistorySource } from "../engine/index.js";
import { firstLater, HistoryNeeded, isLater, isSamePlace } from "../engine/index.js";

type Order = HistoryRequest["after"];

/** All events of one name later than `after`, up to and including `through` (null: to the end), earliest first. */
interface Range {
  after: Order;
  through: Order | null;
  events: readonly HistoryEvent[];
}

/** The size of the first page. It is small, because events may be large. */
const FIRST_PAGE_EVENTS = 500;
/** After each page the engine starts over with all events loaded so far, so pages grow to keep their number small. */
const PAGE_GROWTH = 4;

/** One customer's evaluated events, as far as they were fetched during its evaluation. */
export class HistoryCache {
  readonly #rangesOf = new Map<string, Range[]>();

  /** Adds the answer to a request. */
  add({ event, after, until }: HistoryRequest, { events, complete }: HistoryPage): void {
    const ranges = this.#rangesOf.get(event);
    const range = { after, through: complete ? until : events.at(-1)!, events };
    if (ranges === undefined) this.#rangesOf.set(event, [range]);
    else ranges.push(range);
  }

  /** How many events to fetch for a request: more than for the one that it continues. */
  pageSize({ event, after }: HistoryRequest): number {
    const before = this.#rangesOf.get(event)?.find(({ through }) => through !== null && isSamePlace(through, after));
    return before === undefined ? FIRST_PAGE_EVENTS : before.events.length * PAGE_GROWTH;
  }

  /** Answers a request with the loaded events, as far as they go; undefined if none is loaded. */
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

/** The answer to a request of the engine, and the number of bytes that were read for it. */
export interface HistoryAnswer {
  page: HistoryPage;
  bytes: number;
}

/** Limits of the history that is fetched for one customer: as much as the engine processes in some hundredths of a second. */
const EVENTS_MAX = 20_000;
const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Asks the engine about one customer, and fetches history as needed. Null if that would exceed the limits.
 *
 * @param ask calls the engine with the history loaded so far
 * @param fetch answers a request with at most `pageSize` events, and a few more if the last ones are of the same millisecond
 */
export async function withHistory<T>(
  ask: (history: HistorySource) => T,
  fetch: (request: HistoryRequest, pageSize: number) => Promise<HistoryAnswer>,
): Promise<{ answer: T } | null> {
  const history = new HistoryCache();
  let events = 0;
  let bytes = 0;
  for (;;) {
    try {
      return { answer: ask(history.source) };
    } catch (error) {
      if (!(error instanceof HistoryNeeded)) throw error;
      // Large events are fetched in small pages, by the average size so far.
      const eventsByBytes = events === 0 ? Infinity : Math.floor(((BYTES_MAX - bytes) * events) / bytes);
      const room = Math.min(history.pageSize(error.request), Math.max(1, eventsByBytes), EVENTS_MAX - events);
      if (room <= 0 || bytes >= BYTES_MAX) return null;
      const answer = await fetch(error.request, room);
      history.add(error.request, answer.page);
      events += answer.page.events.length;
      bytes += answer.bytes;
    }
  }
}
