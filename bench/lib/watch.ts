import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";

const POLL_MS = 5;

export interface Watched {
  customerId: string;
  /** Of the event: the state shows it when the customer's last event is no older. */
  timestamp: number;
  dueAt: number;
}

/** Looks for events in the view of customers, and notes how long each took from when it was due. */
export class Watch {
  readonly #unseen = new Set<Watched>();
  #latencies: number[] = [];

  /** @param project in whose environment test the customers are */
  constructor(
    private readonly sql: Sql,
    private readonly project: string,
  ) {}

  /** Those that were not seen yet. */
  get unseen(): readonly Watched[] {
    return [...this.#unseen];
  }

  add(event: Watched): void {
    this.#unseen.add(event);
  }

  /** Since it was last asked, in ms. */
  take(): number[] {
    return this.#latencies.splice(0);
  }

  /** Looks until `sending` has ended and all were seen. */
  async look(sending: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const sent = sending.finally(() => ended.abort());
    sent.catch(() => undefined); // awaited below
    while (!ended.signal.aborted || this.#unseen.size > 0) {
      await delay(POLL_MS);
      const asked = [...this.#unseen];
      if (asked.length === 0) continue;
      const shown = await this.#lastEvents(asked);
      const now = performance.now();
      for (const one of asked) {
        if ((shown.get(one.customerId) ?? -Infinity) < one.timestamp) continue;
        this.#unseen.delete(one);
        this.#latencies.push(now - one.dueAt);
      }
    }
    await sent;
  }

  async #lastEvents(asked: readonly Watched[]): Promise<Map<string, number>> {
    const rows = await this.sql<{ customer_id: string; last_event_at: Date }[]>`
      select customer_id, last_event_at
      from svc_inspect.customers
      where project = ${this.project} and environment = 'test'
        and customer_id = any(${asked.map(({ customerId }) => customerId)}::text[])
        and last_event_at is not null`;
    return new Map(rows.map((row) => [row.customer_id, row.last_event_at.getTime()]));
  }
}
