import { parseTimestamp } from "../operations/timestamp.js";

/** What time it is for the local engine, in whole milliseconds since 1970 UTC. It never goes back. */
export interface Clock {
  readonly kind: "real" | "test";
  now(): number;
}

/** The machine's clock; where that is set back, time stands still until it has caught up. */
export class RealClock implements Clock {
  readonly kind = "real";
  #latest = -Infinity;

  now(): number {
    this.#latest = Math.max(this.#latest, Date.now());
    return this.#latest;
  }
}

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  readonly kind = "test";
  #now: number;

  /** @param start in milliseconds since 1970 UTC */
  constructor(start: number) {
    this.#now = start;
  }

  /** A clock that stands at an ISO 8601 instant. Throws RangeError, which says why, for a text that is none. */
  static at(text: string): TestClock {
    return new TestClock(parseTimestamp(text).milliseconds);
  }

  now(): number {
    return this.#now;
  }

  /** Throws RangeError for an instant that has passed. */
  moveTo(instant: number): void {
    if (instant < this.#now) throw new RangeError("a clock is never set back");
    this.#now = instant;
  }
}
