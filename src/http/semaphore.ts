import { QueueFullError } from "./errors.js";

interface SemaphoreOptions {
  /** How many can be taken at once. */
  places: number;
  /** How many of them one owner can take; all by default. */
  placesEach?: number;
  /** How many callers may wait for a place; further ones are refused. */
  waitingMax: number;
  /** How many places one owner may have taken or wait for; unlimited by default. */
  each?: number;
  /** Callers that have waited this long are refused. */
  waitMsMax: number;
  /** The reason that a refusal gives; by default that of QueueFullError. */
  reason?: string;
  /** The reason if an owner has reached `each`; by default `reason`. */
  reasonEach?: string;
}

/** A bounded number of places for work that takes long. Owners take turns; each gets places in the order in which it asked for them. */
export class Semaphore {
  /** The callers that wait, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** The owner of each taken place. */
  readonly #taken: string[] = [];

  constructor(private readonly options: SemaphoreOptions) {}

  /** Runs `work` once it has a place. Throws QueueFullError if there is none in time, or if the owner has reached `each`. */
  async run<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    const leave = await this.take(owner);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place, and returns a function that releases it; further calls of that function do nothing. Throws as `run` does. */
  async take(owner: string): Promise<() => void> {
    const { each = Infinity, reason, reasonEach = reason } = this.options;
    const held = this.#takenBy(owner) + (this.#waiting.get(owner)?.size ?? 0);
    if (held >= each) throw new QueueFullError(reasonEach);
    if (this.#isFreeFor(owner)) this.#taken.push(owner);
    else await this.#wait(owner);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#leave(owner);
    };
  }

  /** Throws QueueFullError if no further caller can wait now. */
  requireRoom(): void {
    const { waitingMax, reason } = this.options;
    let waiting = 0;
    for (const { size } of this.#waiting.values()) waiting += size;
    if (waiting >= waitingMax) throw new QueueFullError(reason);
  }

  #isFreeFor(owner: string): boolean {
    const { places, placesEach = places } = this.options;
    return this.#taken.length < places && this.#takenBy(owner) < placesEach;
  }

  #takenBy(owner: string): number {
    return this.#taken.filter((each) => each === owner).length;
  }

  /** Resolves once the owner has entered a place. */
  #wait(owner: string): Promise<void> {
    const { waitMsMax, reason } = this.options;
    return new Promise((resolve, reject) => {
      this.requireRoom();
      const line = this.#waiting.get(owner) ?? new Set();
      this.#waiting.set(owner, line);
      const giveUp = setTimeout(() => {
        this.#stepOut(owner, enter);
        reject(new QueueFullError(reason));
      }, waitMsMax);
      const enter = (): void => {
        clearTimeout(giveUp);
        resolve();
      };
      line.add(enter);
    });
  }

  #stepOut(owner: string, enter: () => void): void {
    const line = this.#waiting.get(owner);
    line?.delete(enter);
    if (line?.size === 0) this.#waiting.delete(owner);
  }

  #leave(owner: string): void {
    this.#taken.splice(this.#taken.indexOf(owner), 1);
    for (const [next, line] of this.#waiting) {
      if (!this.#isFreeFor(next)) continue;
      const [enter] = line;
      this.#stepOut(next, enter!);
      // An owner with more callers that wait goes to the end of the line.
      if (line.size > 0) {
        this.#waiting.delete(next);
        this.#waiting.set(next, line);
      }
      this.#taken.push(next);
      enter!();
      return;
    }
  }
}
