import type { Logger } from "pino";
import { codeOf } from "../db/sqlstate.js";

const EVERY_MS = 60_000;

/**
 * Logs the failures of something that is tried every second: the first of a series, one with another code, and one a minute. Otherwise an outage
 * of hours would fill the log with thousands of equal lines.
 */
export class FailureLog {
  #code: string | null = null;
  #loggedAt = 0;
  #unlogged = 0;

  constructor(
    private readonly logger: Logger,
    private readonly level: "warn" | "error",
    private readonly message: string,
  ) {}

  /** Logs a failure, with how many since the last line were not logged. */
  failed(err: unknown): void {
    const code = codeOf(err);
    const now = performance.now();
    if (code === this.#code && now - this.#loggedAt < EVERY_MS) {
      this.#unlogged += 1;
      return;
    }
    const unlogged = this.#unlogged > 0 ? { unlogged: this.#unlogged } : {};
    this.logger[this.level]({ err, ...unlogged }, this.message);
    this.#code = code;
    this.#loggedAt = now;
    this.#unlogged = 0;
  }

  /** Ends the series: the next failure is logged. */
  succeeded(): void {
    this.#code = null;
    this.#unlogged = 0;
  }
}
