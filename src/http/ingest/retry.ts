import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { IngestCall } from "../../db/api/ingestion.js";

const RETRY_DELAYS_MS = [50, 200, 500, 1_000];

/** Lost connections, a server that restarts or is full for a moment, deadlocks: by SQLSTATE, the driver's codes and the system's. */
const WORTH_REPEATING = /^(08|53300|57P0[123]|40P01|40001|CONNECT|ECONN|EPIPE|ETIMEDOUT|ENOENT)/;

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
      if (pause === undefined || !WORTH_REPEATING.test((error as { code?: string }).code ?? "")) throw error;
      await delay(pause);
      if (!(await isWanted())) throw error;
    }
  }
}
