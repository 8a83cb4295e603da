import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Logger } from "./log.js";
import { StartError } from "./start-failure.js";
import type { WorkerRoleOptions } from "./worker-role.js";

const MIB = 1024 * 1024;
/** More than any chunk of work needs. */
const HEAP_MIB_MAX = 2_048;
/** Less than this and the worker would not start. */
const HEAP_MIB_MIN = 128;

/**
 * The limits of the worker's thread: half of the memory that there is, at most 2 GiB. A thread that reaches them ends alone, with
 * ERR_WORKER_OUT_OF_MEMORY; without them the whole process would, or the machine begin to swap.
 *
 * @param memory what the process may use, in bytes
 */
export function workerLimits(memory: number = memoryOfProcess()): ResourceLimits {
  const half = Math.floor(memory / 2 / MIB);
  return { maxOldGenerationSizeMb: Math.max(HEAP_MIB_MIN, Math.min(HEAP_MIB_MAX, half)) };
}

/** What its container allows, or what the machine has. */
function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  const total = os.totalmem();
  // Without a limit it is 0, or more than there is.
  return constrained > 0 && constrained < total ? constrained : total;
}

/** How often the first thread is tried. */
const STARTS_MAX = 4;
const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 10_000;
/** A thread that worked for so long had started well; its end has nothing to do with those before. */
const SETTLED_MS = 60_000;

export interface WorkerThreadData {
  logLevel: string;
  /** Under which the thread before this one was known, where that ended by itself. */
  formerWorkerId: string | undefined;
}

export type WorkerThreadMessage = { kind: "ready" } | { kind: "identified"; workerId: string };

type Thread = ReturnType<typeof launchThread>;

/**
 * Runs the worker in a thread of its own, off the HTTP event loop. A thread that ends by itself, as it does where the database dies with
 * jobs under way, is started again, for as long as it takes: HTTP goes on meanwhile, and readiness says that no worker is there. Throws
 * where the first one does not start in four tries.
 *
 * @param options the thread loads its code while they are waited for, and ends where they do not come
 */
export async function startWorkerThread(options: Promise<WorkerRoleOptions>, logLevel: string, logger: Logger) {
  const launch = (former?: Thread) => launchThread(options, { logLevel, formerWorkerId: former?.workerId() }, logger);
  let thread = launch();
  await options;
  // The database was there a moment ago; it may die just now, too.
  for (let starts = 1; !(await thread.started); starts += 1) {
    if (starts === STARTS_MAX) throw new StartError("the worker did not start; the log says why");
    await delay(FIRST_PAUSE_MS * starts);
    thread = launch(thread);
  }
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const keep = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      const startedAt = performance.now();
      await thread.ended;
      if (isStopping()) return;
      if (performance.now() - startedAt > SETTLED_MS) pauseMs = FIRST_PAUSE_MS;
      logger.error({ pauseMs }, "the worker's thread exited unexpectedly and is started again");
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      thread = launch(thread);
    }
  };
  const kept = keep();
  return {
    async stop() {
      stopping.abort();
      // One that is just starting hears it once it has started.
      thread.worker.postMessage("stop");
      await kept;
    },
  };
}

function launchThread(options: Promise<WorkerRoleOptions>, workerData: WorkerThreadData, logger: Logger) {
  const script = new URL("./worker-thread.js", import.meta.url);
  const worker = new Worker(script, { workerData, resourceLimits: workerLimits() });
  void options.then(
    (known) => worker.postMessage(known),
    () => worker.terminate(),
  );
  worker.on("error", (error) => logger.error({ err: error }, "an error in the worker's thread was not caught"));
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  /** Under which it is known to others, once it is. */
  let workerId = workerData.formerWorkerId;
  const ready = new Promise<boolean>((resolve) => {
    worker.on("message", (message: WorkerThreadMessage) => {
      if (message.kind === "ready") resolve(true);
      else workerId = message.workerId;
    });
  });
  /** Whether it ever said that it is ready. */
  const started = Promise.race([ready, ended.then(() => false)]);
  return { worker, workerId: () => workerId, started, ended };
}
