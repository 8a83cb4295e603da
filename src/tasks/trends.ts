import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { inTransaction } from "../db/transaction.js";
import { environmentsToCount } from "../db/api/evaluation.js";
import { inEachEnvironment, untilNothing } from "./environments.js";

/** Changes that one call adds up, and operations that it counts: tens of milliseconds. */
const COUNTED_ROWS = 5_000;
/** Less than the time between two counts. */
const COUNT_MS_MAX = 50_000;

/**
 * Counts what was logged and accepted since the last time, environment by environment: first what keys have used, where a crash left that
 * behind what was stored, then for the trends.
 *
 * @param signal ends it after the transaction at hand; what is left is for the next time
 * @returns how many rows were counted for the trends
 * @throws the first failure, after the other environments had their turn
 */
export async function countTrends(sql: Sql, signal: AbortSignal, { rows = COUNTED_ROWS, msMax = COUNT_MS_MAX } = {}) {
  let counted = 0;
  await inEachEnvironment(await environmentsToCount(sql), { signal, msMax }, async (id, rested, goesOn) => {
    // What was accepted is found here until its trends are counted: so usage comes first, and is tried again where it failed.
    await untilNothing(() => rested(() => call(sql, "recount_usage", id, rows)), goesOn);
    counted += await untilNothing(() => rested(() => countInTime(sql, id, rows)), goesOn);
  });
  return counted;
}

/** In as much time as it takes: the first count of an environment, and one in another time zone, reads all of its logs. */
function countInTime(sql: Sql, environmentId: number, rows: number): Promise<number> {
  return inTransaction(sql, "isolation level read committed", async (tx) => {
    await tx`set local statement_timeout = 0`;
    return call(tx, "count_trends", environmentId, rows);
  });
}
