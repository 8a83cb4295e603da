import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { type AnswerOf, call } from "../db/api/call.js";
import { environmentsToSweep } from "../db/api/evaluation.js";

/** Rows that one call removes: some ten milliseconds. */
const SWEPT_ROWS = 1_000;
/** Less than the time between two sweeps: one that goes on for longer would have the next one beside it. */
const SWEEP_MS_MAX = 5 * 60_000;

/**
 * Removes what is older than the plans keep it, and what recomputes left behind: environment by environment, in transactions of a few
 * thousand rows. It rests after each as long as that took, so that it never has more than half of one connection's time.
 *
 * @param signal ends it after the transaction at hand; what is left is for the next time
 * @param options how many rows one call removes, and after how long it leaves the rest to the next sweep
 * @returns how many rows were removed
 * @throws the first failure, after the other environments were swept
 */
export async function sweepRetention(sql: Sql, signal: AbortSignal, { rows = SWEPT_ROWS, msMax = SWEEP_MS_MAX } = {}) {
  const swept = { operations: 0, keys: 0, logs: 0 };
  const failures: unknown[] = [];
  const end = performance.now() + msMax;
  const goesOn = () => !signal.aborted && performance.now() < end;
  const rested = async <T>(sweep: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const answer = await sweep();
    await delay(performance.now() - began, undefined, { signal }).catch(() => undefined);
    return answer;
  };
  const sweepEnvironment = async (id: number) => {
    let through: number | null = null;
    do {
      const after: number | null = through;
      const answer: AnswerOf<"sweep_operations"> = await rested(() => call(sql, "sweep_operations", id, after, rows));
      swept.operations += answer.removed;
      through = answer.through;
    } while (through !== null && goesOn());
    swept.keys += await sweepAll(() => rested(() => call(sql, "sweep_keys", id, rows)), goesOn);
    swept.logs += await sweepAll(() => rested(() => call(sql, "sweep_logs", id, rows)), goesOn);
  };
  for (const id of inAnyOrder(await environmentsToSweep(sql))) {
    if (!goesOn()) break;
    await sweepEnvironment(id).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return swept;
}

/** Sweeps until a sweep finds nothing, or `goesOn` says no; the sum of what the sweeps answered. */
export async function sweepAll(sweep: () => Promise<number>, goesOn: () => boolean): Promise<number> {
  let sum = 0;
  for (let swept = -1; swept !== 0 && goesOn(); sum += swept) swept = await sweep();
  return sum;
}

/** Each sweep begins elsewhere, so that one environment with much to remove does not keep the others waiting for ever. */
function inAnyOrder(ids: readonly number[]): number[] {
  const first = Math.floor(Math.random() * ids.length);
  return [...ids.slice(first), ...ids.slice(0, first)];
}
