/** Records what the service has acknowledged. */
import { DemoFailure } from "../src/demo/failure.js";
import type { Operation } from "./operations.js";
import { orAbort } from "./or-abort.js";

interface Waiter {
  /** Called after each acceptance, with the beginning of the accepted attempt. */
  holds: (begunAt: number) => boolean;
  resolve: () => void;
}

export class Ledger {
  /** The acknowledged id, by idempotency key. */
  readonly ids = new Map<string, string>();
  /** Number of acknowledged events with different keys, by customer. */
  readonly events = new Map<string, number>();
  /** Customers whose first operation was an identify. */
  readonly begunByIdentify = new Set<string>();
  /** Operations answered with 202. */
  operations = 0;
  /** How often attempts were repeated, by reason. */
  readonly retries = new Map<string, number>();
  /** Single events that were acknowledged as stored before. */
  duplicates = 0;
  #fresh: Operation[] = [];
  #waiters: Waiter[] = [];
  #complete = false;

  /** To be called in the order of a customer's operations. Throws a DemoFailure if the key was acknowledged with another id before. */
  acknowledge({ key, customerId }: Operation, id: string | null): void {
    if (key === null || id === null) {
      if (!this.events.has(customerId)) this.begunByIdentify.add(customerId);
      return;
    }
    const known = this.ids.get(key);
    if (known === id) return;
    if (known !== undefined)
      throw new DemoFailure(`the event with the key "${key}" was answered as ${known} and later as ${id}`);
    this.ids.set(key, id);
    this.events.set(customerId, (this.events.get(customerId) ?? 0) + 1);
  }

  accepted(operations: readonly Operation[], begunAt: number): void {
    this.operations += operations.length;
    this.#fresh.push(...operations);
    const reached = this.#waiters.filter(({ holds }) => holds(begunAt));
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { resolve } of reached) resolve();
  }

  /** What was accepted since the last call, in order for each customer. */
  takeFresh(): Operation[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  retried(why: string): void {
    this.retries.set(why, (this.retries.get(why) ?? 0) + 1);
  }

  /** To be called when everything was accepted. */
  complete(): void {
    this.#complete = true;
    for (const { resolve } of this.#waiters) resolve();
  }

  /** Whether everything was accepted. */
  isComplete(): boolean {
    return this.#complete;
  }

  /** Resolves once this many operations were accepted, or all. */
  reached(operations: number, signal: AbortSignal): Promise<void> {
    return this.operations >= operations ? Promise.resolve() : this.#until(() => this.operations >= operations, signal);
  }

  /** Resolves at the next acceptance of a request sent after `instant`, or once all were accepted. */
  acceptedSince(instant: number, signal: AbortSignal): Promise<void> {
    return this.#until((begunAt) => begunAt > instant, signal);
  }

  async #until(holds: Waiter["holds"], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#complete) return;
    await orAbort(new Promise<void>((resolve) => this.#waiters.push({ holds, resolve })), signal);
  }
}
