import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { IngestCall } from "../../db/api/ingestion.js";
import { isTransient } from "../../db/sqlstate.js";

const RETRY_DELAYS_MS = [50, 200, 500, 1_000];

/**
 * Makes a call, and retries it after a transient error, such as a lost connection, while `isWanted` says that the answer is still needed. All
 * tries have the same id, by which the database recognizes what an earlier one has stored, so nothing is stored twice. Throws the last error.
 */
export async function withRetries<T>(
  attempt: (call: Omit<IngestCall, "keyHash">) => Promise<T>,
  isWanted: () => boolean | Promise<boolean>,
): Promise<T> {
  const batchId = randomUUID();
  for (let tries = 0; ; tries++) {
    try {
      return await attempt({ batchId, repeated: tries > 0 });
    } catch (error) {
      const pause = RETRY_DELAYS_MS[tries];
      if (pause === undefined || !isTransient(error)) throw error;
      await delay(pause);
      if (!(await isWanted())) throw error;
    }
  }
}
