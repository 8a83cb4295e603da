/** Lets requests of senders pass, or holds them back. */
import { orAbort } from "./or-abort.js";

export class Gate {
  #closed: Promise<void> | null = null;
  #open: () => void = () => undefined;
  /** Requests that can pass before it closes by itself. */
  #remaining = Infinity;
  readonly #underWay = new Set<Promise<unknown>>();

  /** @param signal ends all waiting */
  constructor(private readonly signal: AbortSignal) {}

  /** Does the work once the gate is open. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed !== null) await orAbort(this.#closed, this.signal);
    if (--this.#remaining <= 0) this.#shut();
    const done = work();
    this.#underWay.add(done);
    try {
      return await done;
    } finally {
      this.#underWay.delete(done);
    }
  }

  /** Holds further requests back; resolves when those that passed have ended. */
  async close(): Promise<void> {
    this.#shut();
    await orAbort(Promise.allSettled(this.#underWay), this.signal);
  }

  /** Lets requests pass; closes after `requests` of them. */
  open(requests = Infinity): void {
    this.#remaining = requests;
    this.#closed = null;
    this.#open();
  }

  #shut(): void {
    this.#closed ??= new Promise((resolve) => (this.#open = resolve));
  }
}
