import type { Sql } from "postgres";
import { authenticateKey, type GoodKey, withRetries } from "../../db/api/ingestion.js";
import { QueueFullError, within } from "../errors.js";

const GOOD_FOR_MS = 5_000;
const ENTRIES_MAX = 10_000;
/** Keys that are asked for at once. */
const ASKING_MAX = 1_000;

/**
 * Refuses unknown keys before a body is read. Good answers are remembered for a few seconds; the authority is the check inside
 * svc_api.ingest, so a revoked key stops at once all the same.
 */
export class KeyCheck {
  readonly #good = new Map<string, { until: number; allowance: GoodKey }>();
  /** What was asked of the database and has not come yet, in time or not. */
  readonly #asking = new Map<string, Promise<GoodKey>>();

  /** A request waits `answerMsMax` for the database at most. */
  constructor(
    private readonly sql: Sql,
    private readonly answerMsMax = 5_000,
  ) {}

  /**
   * Answers what was last heard of a good key's rate limit, for requests that are refused without asking the database; whoever hears
   * something newer writes it there. Raises the database's INVALID_API_KEY for any other key, and OverdueError where the database does
   * not answer.
   */
  async require(keyHash: Buffer): Promise<GoodKey> {
    const name = keyHash.toString("hex");
    const known = this.#good.get(name);
    if (known && known.until > Date.now()) return known.allowance;
    const asked = this.#asking.get(name);
    if (asked) return asked;
    if (this.#asking.size >= ASKING_MAX) throw new QueueFullError();
    const answer = this.#ask(name, keyHash);
    this.#asking.set(name, answer);
    return answer;
  }

  #ask(name: string, keyHash: Buffer): Promise<GoodKey> {
    let wanted = true;
    const asked = withRetries(
      () => authenticateKey(this.sql, keyHash),
      () => wanted,
    );
    const remembered = asked
      .then((allowance) => {
        if (this.#good.size >= ENTRIES_MAX) this.#good.clear();
        this.#good.set(name, { until: Date.now() + GOOD_FOR_MS, allowance });
        return allowance;
      })
      .finally(() => this.#asking.delete(name));
    return within(this.answerMsMax, remembered).finally(() => (wanted = false));
  }
}
