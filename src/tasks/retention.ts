import type { Sql } from "postgres";
import { type AnswerOf, call } from "../db/api/call.js";
import { environmentsToSweep } from "../db/api/evaluation.js";
import { forEachEnvironment, repeatUntilZero } from "./environments.js";

/** Rows that one call removes, in some ten milliseconds. */
const SWEPT_ROWS = 1_000;
/** Less than the time between two sweeps, so that they do not overlap. */
const SWEEP_MS_MAX = 5 * 60_000;

/**
 * Removes what is past the retention of the plans, and what recomputes superseded: environment by environment, in transactions of a few
 * thousand rows.
 *
 * @param signal ends it after the current transaction; the rest is left to the next sweep
 * @param options how many rows one call removes, and after how many milliseconds the rest is left to the next sweep
 * @returns how many rows were removed
 * @throws the first failure, after the other environments were swept
 */
export async function sweepRetention(sql: Sql, signal: AbortSignal, { rows = SWEPT_ROWS, msMax = SWEEP_MS_MAX } = {}) {
  const swept = { operations: 0, keys: 0, quarantined: 0, logs: 0 };
  await forEachEnvironment(await environmentsToSweep(sql), { signal, msMax }, async (id, rested, shouldContinue) => {
    let answer: AnswerOf<"sweep_operations">;
    do {
      // The database remembers where the last call ended.
      answer = await rested(() => call(sql, "sweep_operations", id, null, rows));
      swept.operations += answer.removed;
    } while (answer.through !== null && shouldContinue());
    const repeat = (name: "sweep_keys" | "sweep_quarantine" | "sweep_logs") =>
      repeatUntilZero(() => rested(() => call(sql, name, id, rows)), shouldContinue);
    swept.keys += await repeat("sweep_keys");
    swept.quarantined += await repeat("sweep_quarantine");
    swept.logs += await repeat("sweep_logs");
  });
  return swept;
}
