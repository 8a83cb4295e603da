import { setImmediate as nextTurn } from "node:timers/promises";
import type { TransactionSql } from "postgres";
import type { EffectRows } from "../../db/api/evaluation.js";
import { call } from "../../db/api/call.js";
import type { ChunkRequest, PageEnd, RecomputeJob } from "../../db/api/recompute.js";
import type { TrackedEvent } from "../../engine/index.js";
import type { CustomerRun } from "./customer-run.js";
import { eventsOf } from "./customer-replay.js";
import { PastEvents } from "./past-events.js";

/** Runs in the log that are read at once. */
const PAGE_RUNS = 2_000;

/** Which events are read, and how many make a part: a few milliseconds, so that whatever else the process does goes on. */
type LongOptions = Pick<ChunkRequest, "propertyEvents" | "each" | "bytesEach">;

const BEGINNING: PageEnd = { lastAt: null, lastSeq: null };

/** Goes through a history that is too long to be held at once. @param onLogs takes the rows of the logs after each part */
export async function replayLong(
  tx: TransactionSql,
  job: RecomputeJob,
  run: CustomerRun,
  { propertyEvents, each, bytesEach }: LongOptions,
  onLogs: (logs: Pick<EffectRows, "transitions" | "ruleExecutions">) => Promise<unknown>,
): Promise<void> {
  const customer = [job.environmentId, run.customer.customerId] as const;
  const pastEvents = () => new PastEvents(tx, ...customer);
  const past = { replayed: pastEvents(), active: pastEvents() };
  const log = new PresentLog(tx, job, run);
  let end = BEGINNING;
  let held: TrackedEvent[] = [];
  for (let isLast = false; !isLast;) {
    const page = await call(tx, "read_recompute_events", ...customer, end, propertyEvents, each, bytesEach);
    if (page.more) end = page;
    isLast = !page.more;
    const read = eventsOf(page.events);
    // The database orders by microseconds: of the last millisecond an earlier one in the engine's order may follow.
    const events = [...held, ...read].sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
    const cut = isLast ? events.length : events.findIndex(({ occurredAt }) => occurredAt === events.at(-1)!.occurredAt);
    held = events.splice(cut);
    if (events.length === 0 && !isLast) continue;
    await run.part(events, isLast, past, async (logs, knownBefore) => {
      await log.settle(knownBefore);
      await onLogs(logs);
      await nextTurn();
    });
  }
}

/** The log that the runs of a replay are compared with, read as far as the replay has come. */
class PresentLog {
  #end = BEGINNING;
  /** Before this instant all of it is read; Infinity where there is none to read. */
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
    this.run.executions.present(runs);
  }
}
