import { setTimeout as delay } from "node:timers/promises";
import type { TaskList } from "graphile-worker";
import type { Logger } from "pino";
import type { Sql } from "postgres";
import { type AnswerOf, call } from "../db/api/call.js";
import { environmentsToCount, environmentsToSweep } from "../db/api/evaluation.js";
import { inTransaction } from "../db/transaction.js";

/** Rows of a kind that one sweep's call removes, in tens of milliseconds. */
const SWEPT_ROWS = 5_000;
/** Results of recomputes that one call removes; these rows are wide. */
const SWEPT_RESULTS = 1_000;
/** Rows that one call removes because of their age, in some ten milliseconds. */
const RETAINED_ROWS = 1_000;
/** Less than the time between two sweeps, so that they do not overlap. */
const SWEEP_MS_MAX = 5 * 60_000;
/** Changes that one call adds up, or operations that it counts, in tens of milliseconds. */
const COUNTED_ROWS = 5_000;
/** Less than the time between two counts. */
const COUNT_MS_MAX = 50_000;
/** Limits the rest after a part that took minutes, which is rare. */
const REST_MS_MAX = 10_000;

export interface PeriodicJobsOptions {
  sql: Sql;
  /** How many days attempts at deliveries are kept. */
  attemptDays: number;
  logger: Logger;
}

/**
 * The jobs that svc.schedule_jobs queues: trends are counted every minute, each sweep of expired rows runs every ten.
 *
 * @param signal ends each of them after its current transaction; the rest is left to its next run
 */
export function periodicJobs({ sql, attemptDays, logger }: PeriodicJobsOptions, signal: AbortSignal): TaskList {
  return {
    sweep_iam: async () => {
      const rows = Number(await call(sql, "sweep_iam"));
      logger.debug({ rows }, "expired sign-ins, links and sessions were deleted");
    },
    sweep_webhooks: async () => {
      const rows = await repeatUntilZero(
        () => call(sql, "sweep_webhooks", attemptDays, SWEPT_ROWS),
        inTime(signal, SWEEP_MS_MAX),
      );
      logger.debug({ rows }, "old attempts and the rows of deleted webhooks were deleted");
    },
    sweep_recomputes: async () => {
      const rows = await repeatUntilZero(
        () => call(sql, "sweep_recomputes", SWEPT_RESULTS),
        inTime(signal, SWEEP_MS_MAX),
      );
      logger.debug({ rows }, "expired results of recomputes were deleted");
    },
    sweep_retention: async () => {
      const swept = await sweepRetention(sql, signal);
      const hasRemoved = Object.values(swept).some((rows) => rows > 0);
      logger[hasRemoved ? "info" : "debug"](swept, "operations and logs past their retention were deleted");
    },
    count_trends: async () => {
      const rows = await countTrends(sql, signal);
      logger.debug({ rows }, "trends were counted");
    },
  };
}

/**
 * Removes what is past the retention of the plans, and what recomputes superseded: environment by environment, in transactions of a few
 * thousand rows.
 *
 * @param signal ends it after the current transaction; the rest is left to the next sweep
 * @param options how many rows one call removes, and after how many milliseconds the rest is left to the next sweep
 * @returns how many rows were removed
 * @throws the first failure, after the other environments were swept
 */
export async function sweepRetention(
  sql: Sql,
  signal: AbortSignal,
  { rows = RETAINED_ROWS, msMax = SWEEP_MS_MAX } = {},
) {
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

/** Does a part of the work, one short transaction, then rests as long as that took, ten seconds at most. */
type Rested = <T>(part: () => Promise<T>) => Promise<T>;

/**
 * Does work for each environment in short transactions, and rests after each. It begins with a random environment, so that one with much to do
 * does not keep the others waiting forever.
 *
 * @param signal ends it after the current transaction; the rest is left to the next run
 * @param msMax time limit, after which the rest is left to the next run too
 * @param work gets the environment, a function that does a part, and one that says whether to continue
 * @throws the first failure, after the other environments had their turn
 */
async function forEachEnvironment(
  ids: readonly number[],
  { signal, msMax }: { signal: AbortSignal; msMax: number },
  work: (id: number, rested: Rested, shouldContinue: () => boolean) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const shouldContinue = inTime(signal, msMax);
  const rested: Rested = async (part) => {
    const began = performance.now();
    const answer = await part();
    await delay(Math.min(performance.now() - began, REST_MS_MAX), undefined, { signal }).catch(() => undefined);
    return answer;
  };
  const first = Math.floor(Math.random() * ids.length);
  for (const id of [...ids.slice(first), ...ids.slice(0, first)]) {
    if (!shouldContinue()) break;
    await work(id, rested, shouldContinue).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Whether to continue: until the signal, or until the time is over. Sweeps need a limit: while an old snapshot is open, each call reads again
 * what the calls before it removed.
 */
function inTime(signal: AbortSignal, msMax: number): () => boolean {
  const end = performance.now() + msMax;
  return () => !signal.aborted && performance.now() < end;
}

/** Repeats a part until it returns 0 or `shouldContinue` returns false; returns the sum. */
async function repeatUntilZero(part: () => Promise<number>, shouldContinue: () => boolean): Promise<number> {
  let sum = 0;
  for (let count = -1; count !== 0 && shouldContinue(); sum += count) count = await part();
  return sum;
}
