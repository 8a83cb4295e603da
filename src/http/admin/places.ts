import { QueueFullError } from "../unavailable.js";

export interface PlacesOptions {
  /** How many may be taken at once. */
  places: number;
  /** How many may wait for one; past it they are refused. */
  waitingMax: number;
  /** Who has waited for so long is refused. */
  waitMsMax: number;
  /** What who is refused is told; that too many wait for the database unless given. */
  reason?: string;
}

/** A bounded number of places for work that takes long, given in the order in which they are asked for. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Does a piece of work once there is a place for it. Throws QueueFullError where there is none in time. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.take();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place; what it resolves with gives it back, once. Throws QueueFullError where there is none in time. */
  async take(): Promise<() => void> {
    if (this.#taken < this.#options.places) this.#taken += 1;
    else await this.#wait();
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#leave();
    };
  }

  /** Resolves with the place of somebody who left. */
  #wait(): Promise<void> {
    const { waitingMax, waitMsMax, reason } = this.#options;
    if (this.#waiting.size >= waitingMax) return Promise.reject(new QueueFullError(reason));
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        this.#waiting.delete(enter);
        reject(new QueueFullError(reason));
      }, waitMsMax);
      const enter = (): void => {
        clearTimeout(giveUp);
        resolve();
      };
      this.#waiting.add(enter);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
