import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { inTransaction } from "../db/transaction.js";
import { environmentsToCount } from "../db/api/evaluation.js";
import { forEachEnvironment, repeatUntilZero } from "./environments.js";

/** Changes that one call adds up, or operations that it counts, in tens of milliseconds. */
const COUNTED_ROWS = 5_000;
/** Less than the time between two counts. */
const COUNT_MS_MAX = 50_000;

/**
 * Counts what was logged and accepted since the last run, environment by environment: first the usage of keys, where a crash left it behind
 * the stored operations, then the trends.
 *
 * @param signal ends it after the current transaction; the rest is left to the next run
 * @returns how many rows were counted for the trends
 * @throws the first failure, after the other environments had their turn
 */
export async function countTrends(sql: Sql, signal: AbortSignal) {
  let counted = 0;
  const limits = { signal, msMax: COUNT_MS_MAX };
  await forEachEnvironment(await environmentsToCount(sql), limits, async (id, rested, shouldContinue) => {
    // Accepted operations are found here until their trends are counted: so usage comes first, and a failure is tried again.
    await repeatUntilZero(() => rested(() => call(sql, "recount_usage", id, COUNTED_ROWS)), shouldContinue);
    counted += await repeatUntilZero(() => rested(() => countWithoutTimeout(sql, id)), shouldContinue);
  });
  return counted;
}

/** Without a time limit: the first count of an environment, and one after a change of time zone, reads all of its logs. */
function countWithoutTimeout(sql: Sql, environmentId: number): Promise<number> {
  return inTransaction(sql, "isolation level read committed", async (tx) => {
    await tx`set local statement_timeout = 0`;
    return call(tx, "count_trends", environmentId, COUNTED_ROWS);
  });
}
