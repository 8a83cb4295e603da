import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { postWhile } from "../lib/load.js";
import type { Service } from "../soak/service.js";

/** How many operations and deliveries may wait, each: what waits is bounded, so nothing piles up. */
const BACKLOG_MAX = 2_000;
const LOOK_MS = 50;

/** Requests without end to a service, one after the other on each connection; where it evaluates, only while there is room. */
export class Load {
  /** Events that were sent. */
  sent = 0;
  /** Bytes of the service's process that were in memory at most. */
  residentBytes = 0;
  #isFull = false;
  #isOver = false;
  readonly #done: Promise<unknown>;

  /** @param next makes the next request, of so many events */
  constructor(
    private readonly service: Service,
    private readonly sql: Sql,
    connections: number,
    events: number,
    next: () => Buffer,
    private readonly isEvaluated = true,
  ) {
    const sending = postWhile([{ address: service.address, connections }], async () => {
      while (this.#isFull && !this.#isOver) await delay(1);
      if (this.#isOver) return null;
      this.sent += events;
      return next();
    });
    this.#done = Promise.all([sending, this.#watch()]);
  }

  /** Resolves when it is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await delay(LOOK_MS);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      if (this.isEvaluated) this.#isFull = (await waiting(this.sql)).some((count) => count > BACKLOG_MAX);
      this.residentBytes = Math.max(this.residentBytes, await this.service.residentBytes());
      await delay(LOOK_MS);
    }
  }
}

/** Operations that wait for evaluation, and deliveries that are due. */
export async function waiting(sql: Sql): Promise<[operations: number, deliveries: number]> {
  const [{ operations, deliveries }] = await sql<[{ operations: number; deliveries: number }]>`
    select (select count(*)::integer from svc.inbox where not_before is null) as operations,
      (select count(*)::integer from svc.deliveries where status = 'pending') as deliveries`;
  return [operations, deliveries];
}
