import type { HistoryPage, HistoryRequest, HistorySource, TrackedEvent } from "../engine/index.js";
import { HistoryNeeded, isLater } from "../engine/index.js";
import { HistoryCache } from "./history.js";

const PAGE_EVENTS = 1_000;

/** The events of a long history that a replay has gone through, fetched where the engine asks for them. */
export class PastEvents {
  #last: TrackedEvent | null = null;
  #atHand = new HistoryCache();

  /** @param fetch answers a request with so many events at most, and some more within a millisecond */
  constructor(private readonly fetch: (request: HistoryRequest, pageSize: number) => Promise<HistoryPage>) {}

  /** Takes over that the replay went through these; what is at hand is let go, so that memory stays bounded. */
  passed(events: readonly TrackedEvent[]): void {
    this.#last = events.at(-1) ?? this.#last;
    this.#atHand = new HistoryCache();
  }

  /** Does a part of a replay, again each time that something is fetched for it. */
  async during<T>(work: (source: HistorySource) => T): Promise<T> {
    const source: HistorySource = (request) => {
      const bounded = this.bounded(request);
      return bounded === null ? { events: [], complete: true } : this.#atHand.source(bounded);
    };
    for (;;) {
      try {
        return work(source);
      } catch (error) {
        if (!(error instanceof HistoryNeeded)) throw error;
        // What lies ahead of the replay was answered as nothing, so it is not what is needed.
        const request = this.bounded(error.request)!;
        this.#atHand.add(request, await this.fetch(request, PAGE_EVENTS));
      }
    }
  }

  /** No further than the replay has come, while the database knows what follows; null where that is nothing. */
  bounded({ event, after, until }: HistoryRequest): HistoryRequest | null {
    const last = this.#last;
    if (last === null || !isLater(last.occurredAt, last.seq, after)) return null;
    const { occurredAt, seq } = last;
    const isAhead = until === null || isLater(until.occurredAt, until.seq, last);
    return { event, after, until: isAhead ? { occurredAt, seq } : until };
  }
}
