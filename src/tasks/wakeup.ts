import { setTimeout as delay } from "node:timers/promises";

/** Lets a loop sleep until `call` or a timeout. A call while the loop is busy is not lost: its next sleep ends at once. */
export class Wakeup {
  #call = new AbortController();

  call(): void {
    // `abort` creates an error with a stack at each call, even if already aborted; the deliverer calls this for each answer.
    if (!this.#call.signal.aborted) this.#call.abort();
  }

  async sleep(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#call.signal }).catch(() => undefined);
    if (this.#call.signal.aborted) this.#call = new AbortController();
  }
}

/** Whether work ends within some milliseconds; afterwards it still continues. Throws what it throws within that time. */
export async function isDoneWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
