import v8 from "node:v8";
import type { Logger } from "pino";
import { connect } from "../db/connect.js";
import { HEAP, WorkerCounters } from "../metrics/worker-metrics.js";
import { Deliverer } from "../tasks/deliver/deliver.js";
import { startRecomputer } from "../tasks/recompute/recomputer.js";
import { startCounterFlush, startWorker, type RunningWorker, type WorkerOptions } from "../tasks/worker.js";

/** Plain data, so that it can be sent to a thread. */
export interface WorkerRoleOptions extends Pick<
  WorkerOptions,
  "databaseUrl" | "useRoles" | "settleSeconds" | "attemptDays"
> {
  recomputeAttempts: number;
  secret: string;
  allowPrivateWebhooks: boolean;
}

/** Concurrent evaluation jobs. Running jobs share the customers of one environment. */
const CONCURRENCY = 4;

/** Everything a worker process does: evaluation jobs, the tick, recomputes, and webhook deliveries. */
export async function runWorkerRole(
  options: WorkerRoleOptions,
  logger: Logger,
  succession: Pick<WorkerOptions, "formerWorkerId" | "onIdentified"> = {},
): Promise<RunningWorker> {
  const connection = {
    ...(options.useRoles ? { role: "svc_worker" } : {}),
    // A chunk with a long history takes long.
    statementTimeoutMs: 5 * 60_000,
  };
  const sql = connect(options.databaseUrl, { ...connection, max: CONCURRENCY + 6, applicationName: "svc worker" });
  const recomputer = startRecomputer({
    sql,
    // After a crash of the server, a recompute repeats what was lost.
    openSession: () =>
      connect(options.databaseUrl, {
        ...connection,
        max: 1,
        lasting: true,
        applicationName: "svc recompute",
        asynchronousCommit: true,
      }),
    attemptsMax: options.recomputeAttempts,
    logger,
  });
  const counters = new WorkerCounters();
  const worker = await startWorker({
    ...options,
    sql,
    concurrency: CONCURRENCY,
    onRecompute: () => recomputer.wake(),
    logger,
    counters,
    ...succession,
    onStalled: (err) => {
      logger.fatal({ err }, "the worker cannot continue; it exits, to be restarted");
      process.exit(1);
    },
  });
  const { secret, allowPrivateWebhooks: allowPrivate } = options;
  const deliverer = new Deliverer({ sql, secret, allowPrivate, logger, counters });
  const flush = startCounterFlush({ sql, counters, logger });
  const stopObserving = observeHeap(counters);
  return {
    async stop() {
      await Promise.all([worker.stop(), deliverer.stop(), recomputer.stop()]);
      stopObserving();
      await flush.stop();
      await sql.end({ timeout: 5 });
    },
  };
}

/** Interval between observations of the heap. */
const OBSERVE_MS = 10_000;

/** Observes at intervals which share of its limit the heap of this thread uses. Returns a function that stops it. */
export function observeHeap(counters: WorkerCounters): () => void {
  const observe = (): void => {
    const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics();
    counters.observe(HEAP, used / limit);
  };
  observe();
  const timer = setInterval(observe, OBSERVE_MS).unref();
  return () => clearInterval(timer);
}
