import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";

const POLL_MS = 5;

export interface Watched {
  customerId: string;
  /** The event's timestamp: the state includes it once the customer's last event is no older. */
  timestamp: number;
  dueAt: number;
}

/** Polls the view of customers for events, and records how long each took from when it was due. */
export class Watch {
  readonly #unseen = new Set<Watched>();
  #latencies: number[] = [];

  /** @param project whose environment test has the customers */
  constructor(
    private readonly sql: Sql,
    private readonly project: string,
  ) {}

  /** Events that were not seen yet. */
  get unseen(): readonly Watched[] {
    return [...this.#unseen];
  }

  add(event: Watched): void {
    this.#unseen.add(event);
  }

  /** The latencies since the last call, in ms. */
  take(): number[] {
    return this.#latencies.splice(0);
  }

  /** Polls until `sending` has ended and all events were seen. */
  async look(sending: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const sent = sending.finally(() => ended.abort());
    sent.catch(() => undefined); // awaited below
    while (!ended.signal.aborted || this.#unseen.size > 0) {
      await delay(POLL_MS);
      const polled = [...this.#unseen];
      if (polled.length === 0) continue;
      const shown = await this.#lastEvents(polled);
      const now = performance.now();
      for (const one of polled) {
        if ((shown.get(one.customerId) ?? -Infinity) < one.timestamp) continue;
        this.#unseen.delete(one);
        this.#latencies.push(now - one.dueAt);
      }
    }
    await sent;
  }

  async #lastEvents(polled: readonly Watched[]): Promise<Map<string, number>> {
    const rows = await this.sql<{ customer_id: string; last_event_at: Date }[]>`
      select customer_id, last_event_at
      from svc_inspect.customers
      where project = ${this.project} and environment = 'test'
        and customer_id = any(${polled.map(({ customerId }) => customerId)}::text[])
        and last_event_at is not null`;
    return new Map(rows.map((row) => [row.customer_id, row.last_event_at.getTime()]));
  }
}
