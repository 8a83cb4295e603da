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
  const log = new RuleLog(tx, job, run);
  const readPage = (after: PageEnd) =>
    call(tx, "read_recompute_events", ...customer, after, propertyEvents, each, bytesEach);
  for await (const { events, isLast } of eventParts(readPage)) {
    await run.part(events, isLast, past, async (logs, knownBefore) => {
      await log.settle(knownBefore);
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

/** The log of rules that a replay is compared with, read as far as the replay has come. */
class RuleLog {
  #end = BEGINNING;
  /** All runs before this instant are read; Infinity if there is nothing to read. */
  #through: number;

  constructor(
    private readonly tx: TransactionSql,
    private readonly job: RecomputeJob,
    private readonly run: CustomerRun,
  ) {
    this.#through = run.readsLog ? -Infinity : Infinity;
  }

  async settle(before: number): Promise<void> {
    // Page by page, because a log may be as long as the history.
    for (;;) {
      this.run.executions.settle(Math.min(before, this.#through));
      if (this.#through >= before) return;
      await this.#readPage();
    }
  }

  async #readPage(): Promise<void> {
    const { customerId, generation } = this.run.customer;
    const log = [this.job.environmentId, customerId, generation] as const;
    const page = await call(this.tx, "read_recompute_executions", ...log, this.#end, PAGE_RUNS);
    const runs = page.runs ?? [];
    this.#end = page;
    this.#through = runs.length < PAGE_RUNS ? Infinity : runs.at(-1)![3];
    this.run.executions.addLogged(runs);
  }
}
