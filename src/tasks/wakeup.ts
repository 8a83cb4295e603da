import { setTimeout as delay } from "node:timers/promises";

/** Lets a loop sleep until somebody calls or time is up. A call while the loop is busy is not lost: its next sleep ends at once. */
export class Wakeup {
  #call = new AbortController();

  call(): void {
    // Each call of `abort` makes an error with a stack, even where nothing is left to abort; deliveries call for each answer.
    if (!this.#call.signal.aborted) this.#call.abort();
  }

  async sleep(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#call.signal }).catch(() => undefined);
    if (this.#call.signal.aborted) this.#call = new AbortController();
  }
}

/** Whether work is done in so many milliseconds; what was begun goes on. Throws what it throws by then. */
export async function isDoneWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
