import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { IngestCall } from "../../db/api/ingestion.js";
import { isTransient } from "../../db/sqlstate.js";

const RETRY_DELAYS_MS = [50, 200, 500, 1_000];

/**
 * Makes a call, and makes it again where its connection was lost and `isWanted` says that somebody still waits for the answer. The id
 * that all tries have in common tells the database that an earlier one may have been accepted, so nothing is stored twice. What still
 * fails then is thrown.
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
