/** The longest delay that setTimeout takes; longer ones it makes very short. */
const DELAY_MS_MAX = 2 ** 31 - 1;

/** Rings at an instant of the machine's clock. It does not keep the process alive. */
export class Alarm {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly ring: () => void) {}

  /** Sets it to an instant (ms) instead of the former one; null: to none. An instant that is too far away to be set rings early. */
  set(instant: number | null): void {
    clearTimeout(this.#timer);
    if (instant === null) return;
    const delay = Math.min(Math.max(instant - Date.now(), 0), DELAY_MS_MAX);
    this.#timer = setTimeout(this.ring, delay).unref();
  }
}
