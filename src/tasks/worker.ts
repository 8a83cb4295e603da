import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "node:events";
import { Logger as GraphileLogger, runTaskList, type TaskList, type WorkerEvents } from "graphile-worker";
import pg from "pg";
import type { Logger } from "pino";
import { withSession } from "../db/address.js";
import { call } from "../db/api/call.js";
import { tick } from "../db/api/evaluation.js";
import { Models } from "../evaluation/models.js";
import { JOBS, TICKS, type WorkerCounters } from "../metrics/worker-metrics.js";
import { EvaluationTurns } from "./evaluate/turns.js";
import { FailureLog } from "./failure-log.js";
import { type PeriodicJobsOptions, periodicJobs } from "./periodic-jobs.js";

export interface WorkerOptions extends PeriodicJobsOptions {
  databaseUrl: string;
  /** Act as svc_worker; false if the roles could not be created. */
  useRoles: boolean;
  settleSeconds: number;
  concurrency: number;
  /** Called when a recompute was requested. */
  onRecompute: () => void;
  /** Counts jobs, ticks and evaluated operations. */
  counters?: WorkerCounters;
  /** The previous worker, if it ended without stopping properly. */
  formerWorkerId?: string | undefined;
  /** Called with the id of this worker before it does anything. */
  onIdentified?: (workerId: string) => void;
  /** Called when a tick has had no answer for `silenceMsMax`, or the job runner has ended: the process should be restarted. */
  onStalled: (error: Error) => void;
  /** Default: two minutes. */
  silenceMsMax?: number;
}

export interface RunningWorker {
  /** Finishes the current chunks, then resolves. */
  stop(): Promise<void>;
}

const TICK_MS = 1_000;
/** Longer than a database's failover; a query without an answer for this long has lost its connection unnoticed by the driver. */
const SILENCE_MS_MAX = 120_000;

/** Starts the job runner and the tick of this process. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { sql, logger, settleSeconds, counters } = options;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const events: WorkerEvents = new EventEmitter();
  events.on("job:success", ({ job }) => counters?.count(JOBS, [job.task_identifier, "done"]));
  events.on("job:error", ({ job }) => counters?.count(JOBS, [job.task_identifier, "failed"]));
  const evaluation = { sql, models: new Models(), settleSeconds, logger, counters };
  const pool = connectJobRunner(options);
  // Before any job is taken: the customers that it was evaluating may have crashed it.
  if (options.formerWorkerId !== undefined) await call(sql, "remove_worker", options.formerWorkerId);
  // Named in sql/functions/evaluation/heartbeat.sql, too; that queues the periodic ones.
  const tasks: TaskList = {
    ...periodicJobs(options, stopping.signal),
    recompute: options.onRecompute,
    evaluate: async (payload, { job }) => {
      const { environmentId } = payload as { environmentId: number };
      await turns.take({ environmentId, isRetry: job.attempts > 1 });
    },
  };
  // Without graphile-worker's own schedule, which uses the process's clock, and waits where a clock is set back.
  const workers = runTaskList(
    {
      // The process may have another one for a graphile-worker of its own in its environment.
      schema: "graphile_worker",
      concurrency: options.concurrency,
      noHandleSignals: true,
      pollInterval: 1_000,
      events,
      logger: graphileLogger(logger),
    },
    // In a new database the runner adds their names, which the first tick does, too: in another order, the two could wait for each other.
    Object.fromEntries(Object.entries(tasks).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    pool,
  );
  // It ends by itself only after a failure that it has logged.
  const ended = workers.promise
    .catch(() => undefined)
    .then(() => {
      if (!isStopping()) options.onStalled(new Error("the job runner has ended"));
    });
  // graphile-worker locks jobs under the id of its pool, so the tick writes the heartbeat of that id.
  options.onIdentified?.(workers.id);
  const turns = new EvaluationTurns(evaluation, { workerId: workers.id, isStopping });
  const ticker = startTicker(options, workers.id);
  return {
    async stop() {
      stopping.abort();
      await ticker.stop();
      await Promise.allSettled([workers.gracefulShutdown(), ended]);
      await call(sql, "sign_off", workers.id).catch((err: unknown) =>
        logger.warn({ err }, "the worker was not deregistered"),
      );
      await pool.end();
    },
  };
}

/** The connections of the job runner. */
function connectJobRunner({ databaseUrl, useRoles, concurrency, logger }: WorkerOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withSession(databaseUrl, useRoles ? { role: "svc_worker" } : {}),
    max: concurrency + 2,
    application_name: "svc jobs",
    // For the same reason as in the other pools (db/connect.ts).
    maxLifetimeSeconds: 600,
  });
  const onLost = (error: Error) => logger.warn({ err: error }, "a connection of the job runner was lost");
  pool.on("error", onLost);
  pool.on("connect", (client) => client.on("error", onLost));
  return pool;
}

/** Ticks at once, and then a second after each tick has ended; failures are logged, and the next tick tries again. */
function startTicker(options: WorkerOptions, workerId: string): RunningWorker {
  const { sql, settleSeconds, logger, counters, onStalled, silenceMsMax = SILENCE_MS_MAX } = options;
  const failures = new FailureLog(
    logger,
    "error",
    "the worker's tick failed (heartbeat, due timers); trying again in a second",
  );
  return repeat(TICK_MS, async () => {
    const stalled = setTimeout(() => {
      onStalled(new Error(`the database has not answered a tick for ${silenceMsMax / 1_000} s`));
    }, silenceMsMax);
    const begun = performance.now();
    await tick(sql, workerId, settleSeconds).then(
      () => failures.succeeded(),
      (error: unknown) => failures.failed(error),
    );
    counters?.observe(TICKS, (performance.now() - begun) / 1000);
    clearTimeout(stalled);
  });
}

/** Repeats a step, with a pause after each, until it is stopped. */
function repeat(pauseMs: number, step: () => Promise<void>): RunningWorker {
  const stopping = new AbortController();
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await step();
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const done = loop();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Logs graphile-worker's messages: errors and warnings at their level, all others as debug. */
function graphileLogger(logger: Logger): GraphileLogger {
  return new GraphileLogger(() => (level, message, meta) => {
    const name: string = level;
    if (name === "error") logger.error({ meta }, message);
    else if (name === "warning") logger.warn(message);
    else logger.debug(message);
  });
}

type CounterFlushOptions = Required<Pick<WorkerOptions, "sql" | "counters" | "logger">> & { everyMs?: number };

/**
 * Adds a worker's counters to those of the installation periodically, and once more when it stops. What cannot be added is kept for the next
 * time. If only the database's answer was lost, ten seconds' worth is counted twice; if the process is killed, as much is lost. Nothing is
 * billed by these counters.
 */
export function startCounterFlush({ sql, counters, logger, everyMs = 10_000 }: CounterFlushOptions): RunningWorker {
  const flush = async () => {
    const rows = counters.take();
    if (rows.length === 0) return;
    await call(sql, "add_worker_counters", rows).catch((error: unknown) => {
      counters.giveBack(rows);
      logger.warn({ err: error }, "this worker's counters could not be stored; trying again");
    });
  };
  const flushes = repeat(everyMs, flush);
  return {
    async stop() {
      await flushes.stop();
      // What was counted during the loop's last flush.
      await flush();
    },
  };
}
