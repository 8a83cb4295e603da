import { setImmediate as nextTurn } from "node:timers/promises";
import type { TransactionSql } from "postgres";
import { type EffectRows, loadHistoryPages } from "../../db/api/evaluation.js";
import { call } from "../../db/api/call.js";
import type { ChunkRequest, PageEnd, RecomputeJob } from "../../db/api/recompute.js";
import { PastEvents } from "../../evaluation/past-events.js";
import { BEGINNING, eventParts } from "../../evaluation/replayed-events.js";
import type { CustomerRun } from "./customer-run.js";

/** Runs of rules that are read from the log at once. */
const PAGE_RUNS = 2_000;

/** Which events are read, and how many make a part: a few milliseconds of work, so that the process's other tasks continue. */
type LongOptions = Pick<ChunkRequest, "propertyEvents" | "each" | "bytesEach">;

/** Replays a history that is too long to be held at once. @param onLogs receives the logs' rows after each part */
export async function replayLong(
  tx: TransactionSql,
  job: RecomputeJob,
  run: CustomerRun,
  { propertyEvents, each, bytesEach }: LongOptions,
  onLogs: (logs: Pick<EffectRows, "transitions" | "ruleExecutions">) => Promise<unknown>,
): Promise<void> {
  const customer = [job.environmentId, run.customer.customerId] as const;
  const past = { replayed: openPastEvents(tx, ...customer), active: openPastEvents(tx, ...customer) };
  const compareLog = logComparison(tx, job, run);
  const readPage = (after: PageEnd) =>
    call(tx, "read_recompute_events", ...customer, after, propertyEvents, each, bytesEach);
  for await (const { events, isLast } of eventParts(readPage)) {
    await run.part(events, isLast, past, async (logs, knownBefore) => {
      await compareLog(knownBefore);
      await onLogs(logs);
      await nextTurn();
    });
  }
}

/** A customer's events that were already replayed, read when the engine asks for them. */
export function openPastEvents(tx: TransactionSql, environmentId: number, customerId: string): PastEvents {
  return new PastEvents(async (request, pageSize) => {
    const [page] = await loadHistoryPages(tx, environmentId, [{ customerId, request }], pageSize);
    return page!;
  });
}

/**
 * Compares a replay's runs of rules with the customer's log, as far as the replay has come: all runs before an instant. The log is read page by
 * page, because it may be as long as the history.
 */
function logComparison(
  tx: TransactionSql,
  { environmentId }: RecomputeJob,
  { customer, executions, readsLog }: CustomerRun,
) {
  let end = BEGINNING;
  /** All runs before this instant are read. */
  let through = readsLog ? -Infinity : Infinity;
  return async (before: number): Promise<void> => {
    for (;;) {
      executions.settle(Math.min(before, through));
      if (through >= before) return;
      const log = [environmentId, customer.customerId, customer.generation] as const;
      const page = await call(tx, "read_recompute_executions", ...log, end, PAGE_RUNS);
      const runs = page.runs ?? [];
      end = page;
      through = runs.length < PAGE_RUNS ? Infinity : runs.at(-1)![3];
      executions.addLogged(runs);
    }
  };
}
