import type { HistoryPage, HistoryRequest, HistorySource, TrackedEvent } from "../engine/index.js";
import { HistoryNeeded, isLater } from "../engine/index.js";
import { HistoryCache } from "./history.js";

const PAGE_EVENTS = 1_000;

/** The events that a replay of a long history has processed so far, fetched when the engine asks for them. */
export class PastEvents {
  #last: TrackedEvent | null = null;
  #cache = new HistoryCache();

  /** @param fetch answers a request with at most `pageSize` events, and a few more if the last ones are of the same millisecond */
  constructor(private readonly fetch: (request: HistoryRequest, pageSize: number) => Promise<HistoryPage>) {}

  /** Records that the replay has processed these events. Clears the cache, so that memory stays bounded. */
  advance(events: readonly TrackedEvent[]): void {
    this.#last = events.at(-1) ?? this.#last;
    this.#cache = new HistoryCache();
  }

  /** Runs a part of a replay. Starts it over each time that history had to be fetched for it. */
  async runWith<T>(work: (source: HistorySource) => T): Promise<T> {
    const source = this.bounded((request) => this.#cache.source(request));
    for (;;) {
      try {
        return work(source);
      } catch (error) {
        if (!(error instanceof HistoryNeeded)) throw error;
        // Not null: a request beyond the replay's position was answered as empty.
        const request = this.#within(error.request)!;
        this.#cache.add(request, await this.fetch(request, PAGE_EVENTS));
      }
    }
  }

  /** The part of a source up to the replay's position. */
  bounded(source: HistorySource): HistorySource {
    return (request) => {
      const within = this.#within(request);
      return within === null ? { events: [], complete: true } : source(within);
    };
  }

  /** Limits a request to the replay's position, since the database also has later events; null if nothing is left of it. */
  #within({ event, after, until }: HistoryRequest): HistoryRequest | null {
    const last = this.#last;
    if (last === null || !isLater(last.occurredAt, last.seq, after)) return null;
    const { occurredAt, seq } = last;
    const isAhead = until === null || isLater(until.occurredAt, until.seq, last);
    return { event, after, until: isAhead ? { occurredAt, seq } : until };
  }
}
