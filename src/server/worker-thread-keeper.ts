import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Logger } from "./log.js";
import { StartError } from "./start-failure.js";
import type { WorkerRoleOptions } from "./worker-role.js";

const MIB = 1024 * 1024;
/** More than any chunk of work needs. */
const HEAP_MIB_MAX = 2_048;
/** With less the worker would not start. */
const HEAP_MIB_MIN = 128;

/**
 * The heap limit of the worker's thread: half of the memory, at most 2 GiB. A thread that reaches it ends alone, with ERR_WORKER_OUT_OF_MEMORY;
 * without the limit the whole process would end, or the machine begin to swap.
 *
 * @param memory available to the process, in bytes
 */
export function workerLimits(memory: number = memoryOfProcess()): ResourceLimits {
  const half = Math.floor(memory / 2 / MIB);
  return { maxOldGenerationSizeMb: Math.max(HEAP_MIB_MIN, Math.min(HEAP_MIB_MAX, half)) };
}

/** The limit of the container, else the memory of the machine. */
function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  const total = os.totalmem();
  // Without a limit this is 0, or more than the machine has.
  return constrained > 0 && constrained < total ? constrained : total;
}

/** Attempts to start the first thread. */
const STARTS_MAX = 4;
const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 10_000;
/** A thread that ran longer than this had started well, so pauses restart at FIRST_PAUSE_MS. */
const SETTLED_MS = 60_000;

export interface WorkerThreadData {
  logLevel: string;
  /** The worker id of the previous thread, if that ended unexpectedly. */
  formerWorkerId: string | undefined;
}

export type WorkerThreadMessage = { kind: "alive" } | { kind: "ready" } | { kind: "identified"; workerId: string };

/** The interval at which a thread says that it is alive. */
export const ALIVE_MS = 1_000;
/** As long as the worker waits for an answer of its database. */
const SILENCE_MS_MAX = 120_000;
const SILENT_LOOKS = 10;

type Thread = ReturnType<typeof launchThread>;

/**
 * Runs the worker in a separate thread, off the HTTP event loop. A thread that ends unexpectedly, for example because the database crashed with
 * jobs under way, is restarted until that succeeds; meanwhile HTTP continues, and readiness reports that no worker runs. Throws if the first
 * thread does not start in four attempts.
 *
 * @param options while they are awaited, the thread loads its code; it ends if they are rejected
 */
export async function startWorkerThread(options: Promise<WorkerRoleOptions>, logLevel: string, logger: Logger) {
  const launch = (former?: Thread) => launchThread(options, { logLevel, formerWorkerId: former?.workerId() }, logger);
  let thread = launch();
  await options;
  // The database answered a moment ago, but may crash just now.
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
      logger.error({ pauseMs }, "the worker's thread exited unexpectedly and is restarted");
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      thread = launch(thread);
    }
  };
  const keeping = keep();
  return {
    async stop() {
      stopping.abort();
      // A thread that is still starting receives this once it has started.
      thread.worker.postMessage("stop");
      await keeping;
    },
  };
}

/**
 * Ends a thread that has been silent for too long: its event loop is blocked, so it can neither give up by itself nor hand over its work, and other
 * processes may have no worker. The next thread says whose work was left, and tries it in parts.
 *
 * @returns a function to be called when the thread gives a sign of life
 */
export function endIfSilent(worker: Worker, msMax: number, logger: Logger): () => void {
  let silent = 0;
  // Several looks instead of one: after a pause of the whole process, the first comes before the signs of life that wait.
  const look = () => {
    silent += 1;
    if (silent !== SILENT_LOOKS) return;
    logger.error({ silentMs: msMax }, "the worker's thread hangs and is ended");
    void worker.terminate();
  };
  const looking = setInterval(look, msMax / SILENT_LOOKS).unref();
  worker.once("exit", () => clearInterval(looking));
  return () => void (silent = 0);
}

function launchThread(options: Promise<WorkerRoleOptions>, workerData: WorkerThreadData, logger: Logger) {
  const script = new URL("./worker-thread.js", import.meta.url);
  const worker = new Worker(script, { workerData, resourceLimits: workerLimits() });
  void options.then(
    (ready) => worker.postMessage(ready),
    () => worker.terminate(),
  );
  worker.on("error", (error) => logger.error({ err: error }, "an uncaught error ended the worker's thread"));
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const isAlive = endIfSilent(worker, SILENCE_MS_MAX, logger);
  /** Its id for the job runner, once it has one; until then that of the previous thread. */
  let workerId = workerData.formerWorkerId;
  const ready = new Promise<boolean>((resolve) => {
    worker.on("message", (message: WorkerThreadMessage) => {
      isAlive();
      if (message.kind === "ready") resolve(true);
      else if (message.kind === "identified") workerId = message.workerId;
    });
  });
  /** Resolves to whether the thread became ready before it ended. */
  const started = Promise.race([ready, ended.then(() => false)]);
  return { worker, workerId: () => workerId, started, ended };
}
