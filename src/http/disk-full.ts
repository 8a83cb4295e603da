import { isDiskFull } from "../db/sqlstate.js";

/** For how long nobody should try; then somebody does. */
const FULL_MS = 10_000;

/**
 * Whether the database's disk is full, which is known of what it could not write: a probe that writes little would find room where a batch
 * finds none.
 */
export class DiskFull {
  #until = 0;

  /** Told of each failure of a write. */
  failed(error: unknown): void {
    if (isDiskFull(error)) this.#until = performance.now() + FULL_MS;
  }

  /** Told of each write. */
  written(): void {
    this.#until = 0;
  }

  get isFull(): boolean {
    return performance.now() < this.#until;
  }
}
