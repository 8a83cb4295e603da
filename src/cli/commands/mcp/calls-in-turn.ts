/**
 * How many calls of tools run at once. A client may send thousands without waiting, and a service limits the connections of a network, which
 * others may share.
 */
const RUNNING_MAX = 16;

/** Runs work at once while fewer than RUNNING_MAX others run, else in the order in which it was asked for. */
export class CallsInTurn {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING_MAX) await new Promise<void>((enter) => this.#waiting.push(enter));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const enter = this.#waiting.shift();
      if (enter === undefined) this.#running -= 1;
      else enter();
    }
  }
}
