import type { Logger } from "pino";
import type { Sql } from "postgres";
import { addWorkerCounters } from "../db/api/monitoring.js";
import type { WorkerCounters } from "../metrics/worker-metrics.js";
import type { RunningWorker } from "./worker.js";
import { Wakeup } from "./wakeup.js";

export interface CounterFlushOptions {
  sql: Sql;
  counters: WorkerCounters;
  logger: Logger;
  /** 10 s unless given: what a process that is killed takes with it. */
  everyMs?: number;
}

/**
 * Adds what a worker counts to the figures of the installation, again and again, and once more when it stops. What cannot be added is kept for
 * the next time. Where only the answer of the database was lost it is added twice: figures of ten seconds, which nobody is billed by.
 */
export function startCounterFlush({ sql, counters, logger, everyMs = 10_000 }: CounterFlushOptions): RunningWorker {
  const wakeup = new Wakeup();
  let stopping = false;
  const flush = async () => {
    const rows = counters.take();
    if (rows.length === 0) return;
    await addWorkerCounters(sql, rows).catch((error: unknown) => {
      counters.giveBack(rows);
      logger.warn({ err: error }, "this worker's counters could not be stored yet");
    });
  };
  const loop = async () => {
    while (!stopping) {
      await wakeup.sleep(everyMs);
      await flush();
    }
  };
  const done = loop();
  return {
    async stop() {
      stopping = true;
      wakeup.call();
      await done;
      // What was counted while the loop was at its last one.
      await flush();
    },
  };
}
