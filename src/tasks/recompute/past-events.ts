import type { TransactionSql } from "postgres";
import { loadHistoryPages } from "../../db/api/evaluation.js";
import type { HistoryRequest, HistorySource, TrackedEvent } from "../../engine/index.js";
import { HistoryNeeded, isLater } from "../../engine/index.js";
import { HistoryCache } from "../../evaluation/history.js";

const PAGE_EVENTS = 1_000;

/** The events of a long history that a replay has gone through, fetched where the engine asks for them. */
export class PastEvents {
  #last: TrackedEvent | null = null;
  #atHand = new HistoryCache();

  constructor(
    private readonly tx: TransactionSql,
    private readonly environmentId: number,
    private readonly customerId: string,
  ) {}

  /** Takes over that the replay went through these; what is at hand is let go, so that memory stays bounded. */
  passed(events: readonly TrackedEvent[]): void {
    this.#last = events.at(-1) ?? this.#last;
    this.#atHand = new HistoryCache();
  }

  /** Does a part of a replay, again each time that something is fetched for it. */
  async during<T>(work: (source: HistorySource) => T): Promise<T> {
    const source: HistorySource = (request) => {
      const bounded = this.#bounded(request);
      return bounded === null ? { events: [], complete: true } : this.#atHand.source(bounded);
    };
    for (;;) {
      try {
        return work(source);
      } catch (error) {
        if (!(error instanceof HistoryNeeded)) throw error;
        await this.#fetch(error.request);
      }
    }
  }

  async #fetch(needed: HistoryRequest): Promise<void> {
    const { tx, environmentId, customerId } = this;
    // What lies ahead of the replay was answered as nothing, so it is not what is needed.
    const request = this.#bounded(needed)!;
    const [page] = await loadHistoryPages(tx, environmentId, [{ customerId, request }], PAGE_EVENTS);
    this.#atHand.add(request, page!);
  }

  /** No further than the replay has come, while the database knows what follows; null where that is nothing. */
  #bounded({ event, after, until }: HistoryRequest): HistoryRequest | null {
    const last = this.#last;
    if (last === null || !isLater(last.occurredAt, last.seq, after)) return null;
    const { occurredAt, seq } = last;
    const isAhead = until === null || isLater(until.occurredAt, until.seq, last);
    return { event, after, until: isAhead ? { occurredAt, seq } : until };
  }
}
