/** Where senders pass, one request at a time each. */
import { once } from "node:events";

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
    while (this.#closed !== null) await this.#orEnd(this.#closed);
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
    await this.#orEnd(Promise.allSettled(this.#underWay));
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

  async #orEnd(work: Promise<unknown>): Promise<void> {
    this.signal.throwIfAborted();
    const settled = new AbortController();
    const ended = once(this.signal, "abort", { signal: settled.signal }).catch((error: unknown) => {
      if (!settled.signal.aborted) throw error;
    });
    await Promise.race([work, ended]);
    settled.abort();
    this.signal.throwIfAborted();
  }
}
