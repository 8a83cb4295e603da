import type { Sql } from "postgres";
import { authenticateKey, type Allowance } from "../../db/calls-ingest.js";
import { withRetries } from "./retry.js";

const GOOD_FOR_MS = 5_000;
const ENTRIES_MAX = 10_000;

/**
 * Refuses unknown keys before a body is read. Good answers are remembered for a few seconds; the authority is the check inside
 * svc_api.ingest, so a revoked key stops at once all the same.
 */
export class KeyCheck {
  readonly #good = new Map<string, { until: number; allowance: Allowance }>();

  constructor(private readonly sql: Sql) {}

  /**
   * Answers what was last heard of a good key's rate limit, for requests that are refused without asking the database; whoever hears
   * something newer writes it there. Raises the database's INVALID_API_KEY for any other key.
   */
  async require(keyHash: Buffer): Promise<Allowance> {
    const name = keyHash.toString("hex");
    const now = Date.now();
    const known = this.#good.get(name);
    if (known && known.until > now) return known.allowance;
    this.#good.delete(name);
    const allowance = await withRetries(() => authenticateKey(this.sql, keyHash));
    if (this.#good.size >= ENTRIES_MAX) this.#good.clear();
    this.#good.set(name, { until: now + GOOD_FOR_MS, allowance });
    return allowance;
  }
}
