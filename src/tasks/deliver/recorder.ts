import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { AttemptResult } from "../../db/api/webhooks.js";
import { isDataFault } from "../../db/sqlstate.js";

const BATCH_MAX = 500;
/** How long results are gathered after a call, which costs as much as dozens of results. */
const GATHER_MS = 20;
/** With this many results the next call is made at once. */
const GATHER_MAX = 100;
const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;

/** The recorded error of an attempt whose texts the database rejects. */
const UNRECORDED = "the answer could not be recorded";

interface Waiting {
  result: AttemptResult;
  done: () => void;
}

/**
 * Records attempts in batches: those that arrive during a call, or soon after it, share the next one. No result is dropped because the
 * database is unavailable: the call is repeated until it succeeds, which does no harm if only its answer was lost.
 */
export class AttemptRecorder {
  readonly #abandoned = new AbortController();
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(
    private readonly sql: Sql,
    private readonly logger: Logger,
  ) {}

  /** Resolves once the result is recorded, or abandoned. Never rejects. */
  record(result: AttemptResult): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ result, done });
      if (!this.#writing) void this.#writeAll();
    });
  }

  /** Stops repeating: a delivery whose attempt is not recorded by now is made again once the lease of its webhook has ended. */
  abandon(): void {
    this.#abandoned.abort();
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      await this.#write(batch.map(({ result }) => result));
      for (const { done } of batch) done();
      if (this.#waiting.length < GATHER_MAX) await delay(GATHER_MS);
    }
    this.#writing = false;
  }

  async #write(results: AttemptResult[]): Promise<void> {
    for (let wait = RETRY_MS; !this.#abandoned.signal.aborted; wait = Math.min(2 * wait, RETRY_MS_MAX)) {
      try {
        const { disabled } = await call(this.sql, "record_attempts", results);
        for (const webhook of disabled) this.logger.warn(webhook, "a webhook was disabled");
        return;
      } catch (err) {
        if (isDataFault(err)) return this.#writeApart(results, err);
        this.logger.warn({ err, attempts: results.length }, "attempts at deliveries could not be stored; trying again");
        await delay(wait, undefined, { signal: this.#abandoned.signal }).catch(() => undefined);
      }
    }
  }

  /** One rejected result must not block others: the batch is bisected until it stands alone, then it is recorded without its texts. */
  async #writeApart(results: AttemptResult[], err: unknown): Promise<void> {
    const [attempt, ...others] = results;
    if (attempt !== undefined && others.length === 0) {
      // Without a record the delivery would stay due and be repeated forever.
      if (attempt.error !== UNRECORDED) return this.#write([{ ...attempt, error: UNRECORDED, response: null }]);
      this.logger.error(
        { err, attempt },
        "the database rejected the record of an attempt at a delivery, so the delivery will be made again",
      );
      return;
    }
    const middle = Math.ceil(results.length / 2);
    await this.#write(results.slice(0, middle));
    await this.#write(results.slice(middle));
  }
}
