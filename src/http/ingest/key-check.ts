import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { ValidKey } from "../../db/api/ingestion.js";
import { QueueFullError, withTimeout } from "../errors.js";
import { withRetries } from "./retries.js";

const CACHED_MS = 5_000;
const ENTRIES_MAX = 10_000;
/** Look-ups of keys that the database has not answered yet, including overdue ones. */
const LOOKUPS_MAX = 1_000;

/**
 * Refuses unknown keys before a body is read. Valid keys are cached for a few seconds; svc_api.ingest checks the key again, so a revoked key
 * stops working at once all the same.
 */
export class KeyCheck {
  readonly #valid = new Map<string, { until: number; allowance: ValidKey }>();
  /** Look-ups that are not overdue yet, by key. */
  readonly #lookups = new Map<string, Promise<ValidKey>>();
  #unanswered = 0;

  /** A request waits at most `answerMsMax` for the database. */
  constructor(
    private readonly sql: Sql,
    private readonly answerMsMax = 5_000,
  ) {}

  /**
   * Returns the latest known allowance of a valid key, for requests that are refused without asking the database; callers that learn newer numbers
   * write them into this object. Throws the database's INVALID_API_KEY for any other key, and OverdueError if the database does not answer.
   */
  async require(keyHash: Buffer): Promise<ValidKey> {
    const name = keyHash.toString("hex");
    const cached = this.#valid.get(name);
    if (cached && cached.until > performance.now()) return cached.allowance;
    const running = this.#lookups.get(name);
    if (running) return running;
    if (this.#unanswered >= LOOKUPS_MAX) throw new QueueFullError();
    const lookup = this.#lookUp(name, keyHash);
    this.#lookups.set(name, lookup);
    return lookup;
  }

  #lookUp(name: string, keyHash: Buffer): Promise<ValidKey> {
    let isWanted = true;
    this.#unanswered += 1;
    const cached = withRetries(
      () => call(this.sql, "authenticate_key", keyHash),
      () => isWanted,
    )
      .then((allowance) => {
        if (this.#valid.size >= ENTRIES_MAX) this.#valid.clear();
        this.#valid.set(name, { until: performance.now() + CACHED_MS, allowance });
        return allowance;
      })
      .finally(() => {
        this.#unanswered -= 1;
      });
    return withTimeout(this.answerMsMax, cached).finally(() => {
      isWanted = false;
      // The next request looks the key up again, on another connection: this one may be dead, which shows only after a minute.
      this.#lookups.delete(name);
    });
  }
}
