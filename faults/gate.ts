/** Where senders pass, one request at a time each. */
import { orAbort } from "./or-abort.js";

export class Gate {
  #closed: Promise<void> | null = null;
  #open: () => void = () => undefined;
  /** Requests that may pass before it closes by itself. */
  #left = Infinity;
  readonly #underWay = new Set<Promise<unknown>>();

  /** @param signal ends all waiting */
  constructor(private readonly signal: AbortSignal) {}

  /** Does the work once the gate is open. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed !== null) await orAbort(this.#closed, this.signal);
    if (--this.#left <= 0) this.#shut();
    const done = work();
    this.#underWay.add(done);
    try {
      return await done;
    } finally {
      this.#underWay.delete(done);
    }
  }

  /** Lets nobody pass any more; resolves when those that did are through. */
  async close(): Promise<void> {
    this.#shut();
    await orAbort(Promise.allSettled(this.#underWay), this.signal);
  }

  /** Lets so many requests through, and then nobody any more. */
  open(requests = Infinity): void {
    this.#left = requests;
    this.#closed = null;
    this.#open();
  }

  #shut(): void {
    this.#closed ??= new Promise((resolve) => (this.#open = resolve));
  }
}
