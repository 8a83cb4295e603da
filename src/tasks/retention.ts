import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import {
  environmentsToSweep,
  sweepKeys,
  sweepLogs,
  sweepOperations,
  type SweptOperations,
} from "../db/calls-retention.js";

/** Rows that one call removes: some ten milliseconds. */
const SWEPT_ROWS = 1_000;

/** What a sweep removed. */
export interface Swept {
  operations: number;
  keys: number;
  logs: number;
}

/**
 * Removes what is older than the plans keep it, and what recomputes left behind: environment by environment, in transactions of a few
 * thousand rows. It rests after each as long as that took, so that it never has more than half of one connection's time.
 *
 * @param stopping ends it after the transaction at hand; what is left is for the next time
 */
export async function sweepRetention(sql: Sql, stopping: AbortSignal, rows = SWEPT_ROWS): Promise<Swept> {
  const swept: Swept = { operations: 0, keys: 0, logs: 0 };
  const goesOn = () => !stopping.aborted;
  const rested = async <T>(sweep: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const answer = await sweep();
    await delay(performance.now() - began, undefined, { signal: stopping }).catch(() => undefined);
    return answer;
  };
  const untilNothing = async (sweep: () => Promise<number>): Promise<number> => {
    let sum = 0;
    for (let removed = -1; removed !== 0 && goesOn(); sum += removed) removed = await rested(sweep);
    return sum;
  };
  for (const id of await environmentsToSweep(sql)) {
    if (!goesOn()) break;
    let through: number | null = null;
    do {
      const after: number | null = through;
      const answer: SweptOperations = await rested(() => sweepOperations(sql, id, after, rows));
      swept.operations += answer.removed;
      through = answer.through;
    } while (through !== null && goesOn());
    swept.keys += await untilNothing(() => sweepKeys(sql, id, rows));
    swept.logs += await untilNothing(() => sweepLogs(sql, id, rows));
  }
  return swept;
}
