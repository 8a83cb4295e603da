/** The longest that a timer of Node.js waits. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One pause at a time, which keeps the process running only while somebody waits for what comes after it. */
export class Pause {
  #timer: NodeJS.Timeout | null = null;
  #done: (() => void) | null = null;
  #keepsProcess = false;

  /** Calls back after so many milliseconds, or once it is ended. Takes the place of the pause before, which is forgotten. */
  begin(ms: number, done: () => void): void {
    this.forget();
    this.#done = done;
    this.#timer = setTimeout(() => this.end(), Math.min(ms, TIMER_MS_MAX));
    this.keepProcess(this.#keepsProcess);
  }

  /** Ends it early; nothing where there is none. */
  end(): void {
    const done = this.#done;
    this.forget();
    done?.();
  }

  forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#done = null;
  }

  get isUnderWay(): boolean {
    return this.#timer !== null;
  }

  keepProcess(keeps: boolean): void {
    this.#keepsProcess = keeps;
    if (keeps) this.#timer?.ref();
    else this.#timer?.unref();
  }
}
