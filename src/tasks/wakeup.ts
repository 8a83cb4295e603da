import { setTimeout as delay } from "node:timers/promises";

/** Lets a loop sleep until somebody calls or time is up. A call while the loop is busy is not lost: its next sleep ends at once. */
export class Wakeup {
  #called = false;
  #wake: (() => void) | null = null;

  call(): void {
    this.#called = true;
    this.#wake?.();
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#called) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    this.#called = false;
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
