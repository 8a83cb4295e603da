import { QueueFullError } from "./errors.js";

interface SemaphoreOptions {
  /** How many may be taken at once. */
  places: number;
  /** Of them, by one who asks; all unless given. */
  placesEach?: number;
  /** How many may wait for one; past it they are refused. */
  waitingMax: number;
  /** How many one who asks may have, waiting or at work; any number unless given. */
  each?: number;
  /** Who has waited for so long is refused. */
  waitMsMax: number;
  /** What who is refused is told; that too many wait for the database unless given. */
  reason?: string;
  /** What one is told who has as many as one may; the same unless given. */
  reasonEach?: string;
}

/** A bounded number of places for work that takes long. Those who ask take turns; each gets places in the order in which it asked for them. */
export class Semaphore {
  /** Who is first in line comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #taken = new Map<string, number>();

  constructor(private readonly options: SemaphoreOptions) {}

  /** Does a piece of work once there is a place. Throws QueueFullError where there is none in time, or `who` has as many as one may. */
  async run<T>(work: () => Promise<T>, who = ""): Promise<T> {
    const leave = await this.take(who);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place; what it resolves with gives it back, once. Throws as `run` does. */
  async take(who = ""): Promise<() => void> {
    const { each = Infinity, reason, reasonEach = reason } = this.options;
    const held = (this.#taken.get(who) ?? 0) + (this.#waiting.get(who)?.size ?? 0);
    if (held >= each) throw new QueueFullError(reasonEach);
    if (this.#isFreeFor(who)) this.#enter(who);
    else await this.#wait(who);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#leave(who);
    };
  }

  /** Throws QueueFullError where nobody else could even wait now. */
  requireRoom(): void {
    const { waitingMax, reason } = this.options;
    let waiting = 0;
    for (const { size } of this.#waiting.values()) waiting += size;
    if (waiting >= waitingMax) throw new QueueFullError(reason);
  }

  #isFreeFor(who: string): boolean {
    const { places, placesEach = places } = this.options;
    let taken = 0;
    for (const count of this.#taken.values()) taken += count;
    return taken < places && (this.#taken.get(who) ?? 0) < placesEach;
  }

  #enter(who: string): void {
    this.#taken.set(who, (this.#taken.get(who) ?? 0) + 1);
  }

  /** Resolves once a place was entered. */
  #wait(who: string): Promise<void> {
    const { waitMsMax, reason } = this.options;
    return new Promise((resolve, reject) => {
      this.requireRoom();
      const line = this.#waiting.get(who) ?? new Set();
      this.#waiting.set(who, line);
      const giveUp = setTimeout(() => {
        this.#stepOut(who, enter);
        reject(new QueueFullError(reason));
      }, waitMsMax);
      const enter = (): void => {
        clearTimeout(giveUp);
        resolve();
      };
      line.add(enter);
    });
  }

  #stepOut(who: string, enter: () => void): void {
    const line = this.#waiting.get(who);
    line?.delete(enter);
    if (line?.size === 0) this.#waiting.delete(who);
  }

  #leave(who: string): void {
    const left = this.#taken.get(who)! - 1;
    if (left > 0) this.#taken.set(who, left);
    else this.#taken.delete(who);
    for (const [next, line] of this.#waiting) {
      if (!this.#isFreeFor(next)) continue;
      const [enter] = line;
      this.#stepOut(next, enter!);
      // Who has more to do goes to the end of the line.
      if (line.size > 0) {
        this.#waiting.delete(next);
        this.#waiting.set(next, line);
      }
      this.#enter(next);
      enter!();
      return;
    }
  }
}
