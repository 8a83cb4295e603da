import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { postWhile } from "../lib/load.js";
import type { Service } from "../soak/service.js";

/** Maximum of waiting operations, and of waiting deliveries, so that no backlog grows. */
const BACKLOG_MAX = 2_000;
const LOOK_MS = 50;

/** Sends requests to a service, one after the other on each connection; if it evaluates, only while the backlog is small. */
export class Load {
  /** Events that were sent. */
  sent = 0;
  /** Peak resident memory of the service's process; only if it evaluates. */
  residentBytes = 0;
  /** Resolves once all requests are answered. */
  readonly done: Promise<void>;
  #isFull = false;
  #isOver = false;

  /** @param events per request @param next makes the next request; null at the end */
  constructor(
    private readonly service: Service,
    private readonly sql: Sql,
    connections: number,
    events: number,
    next: () => Buffer | null,
    isEvaluated = true,
  ) {
    const sending = postWhile([{ address: service.address, connections }], async () => {
      while (this.#isFull && !this.#isOver) await delay(1);
      const request = this.#isOver ? null : next();
      if (request === null) this.#isOver = true;
      else this.sent += events;
      return request;
    });
    this.done = isEvaluated ? Promise.all([sending, this.#watch()]).then(() => undefined) : sending;
  }

  end(): Promise<void> {
    this.#isOver = true;
    return this.done;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      this.#isFull = (await waiting(this.sql)).some((count) => count > BACKLOG_MAX);
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
