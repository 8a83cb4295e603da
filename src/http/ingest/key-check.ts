import type { Sql } from "postgres";
import { authenticateKey } from "../../db/calls-ingest.js";

const GOOD_FOR_MS = 5_000;
const ENTRIES_MAX = 10_000;

/**
 * Refuses unknown keys before a body is read. Good answers are remembered for a few seconds; the authority is the check inside
 * svc_api.ingest, so a revoked key stops at once all the same.
 */
export class KeyCheck {
  readonly #goodUntil = new Map<string, number>();

  constructor(private readonly sql: Sql) {}

  /** Resolves for a good key; raises the database's INVALID_API_KEY for any other. */
  async require(keyHash: Buffer): Promise<void> {
    const name = keyHash.toString("hex");
    const now = Date.now();
    if ((this.#goodUntil.get(name) ?? 0) > now) return;
    this.#goodUntil.delete(name);
    await authenticateKey(this.sql, keyHash);
    if (this.#goodUntil.size >= ENTRIES_MAX) this.#goodUntil.clear();
    this.#goodUntil.set(name, now + GOOD_FOR_MS);
  }
}
