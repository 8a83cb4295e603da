import { Worker } from "node:worker_threads";
import type { ComputeJob, JobInput, JobName, JobOutput, JobReport } from "./jobs.js";
import { ApiError } from "../errors.js";

/** The script of the thread, as scripts/build.js writes it. When the sources are run directly, the built script is used too. */
const SCRIPT = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/server/compute-thread.js" : "../../server/compute-thread.js",
  import.meta.url,
);

/** A start takes a tenth of a second; a thread keeps the memory of the largest body that it read until it ends. */
const IDLE_MS_MAX = 10_000;
/** More than the largest accepted body takes when it is parsed. */
const HEAP_MIB_MAX = 2_048;

/** Functions of the main thread that a job can call, by name. */
type Answers = Readonly<Record<string, (input: never) => Promise<unknown>>>;

interface Running {
  answers: Answers;
  resolve: (output: never) => void;
  reject: (error: unknown) => void;
}

/**
 * A thread for work that would block the event loop. It starts with the first job and ends when it has been idle for a while. It accepts any
 * number of jobs: callers must bound how many run at once.
 */
export class ComputeThread {
  readonly #running = new Map<number, Running>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #jobs = 0;

  /**
   * Runs a job in the thread; buffers in `transfer` are transferred instead of copied. Throws what the job or one of `answers` throws, and 413
   * if the job runs out of memory.
   */
  run<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    { transfer = [], answers = {} }: { transfer?: ArrayBuffer[]; answers?: Answers } = {},
  ): Promise<JobOutput<Name>> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const id = this.#jobs++;
    return new Promise<JobOutput<Name>>((resolve, reject) => {
      this.#running.set(id, { answers, resolve, reject });
      // Keeps the process alive while a job runs.
      worker.ref();
      worker.postMessage({ id, name, input } satisfies ComputeJob, transfer);
    });
  }

  /** Ends the thread; running jobs fail. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(SCRIPT, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX } });
    worker.on("message", (report: JobReport) => this.#handle(worker, report));
    worker.on("error", (error: Error & { code?: string }) => this.#fail(worker, refusalOf(error)));
    worker.on("exit", () => this.#fail(worker, new Error("the compute thread ended")));
    return worker;
  }

  #handle(worker: Worker, report: JobReport): void {
    const job = this.#running.get(report.id);
    // The job is already rejected if one of its questions failed.
    if (job === undefined) return;
    if ("question" in report) {
      const { id, call, question, input } = report;
      job.answers[question]!(input as never).then(
        (output) => worker.postMessage({ id, call, output }),
        (error: unknown) => {
          this.#end(id);
          worker.postMessage({ id, call, failed: true });
          job.reject(error);
        },
      );
      return;
    }
    this.#end(report.id);
    if ("output" in report) job.resolve(report.output as never);
    else if ("refused" in report) job.reject(new ApiError(...report.refused));
    else job.reject(report.error instanceof Error ? Object.assign(report.error, report.members) : report.error);
  }

  #end(id: number): void {
    // Several questions of one job can fail; its end must not set a second timer.
    if (!this.#running.delete(id) || this.#running.size > 0) return;
    const worker = this.#worker;
    worker?.unref();
    this.#idle = setTimeout(() => {
      this.#worker = undefined;
      void worker?.terminate();
    }, IDLE_MS_MAX).unref();
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    const jobs = [...this.#running.values()];
    this.#running.clear();
    for (const { reject } of jobs) reject(error);
  }
}

function refusalOf(error: Error & { code?: string }): Error {
  if (!/^ERR_WORKER_OUT_OF_MEMORY$/.test(error.code ?? "")) return error;
  const reason = "Reading it takes more memory than one request may have.";
  return new ApiError(413, "PAYLOAD_TOO_LARGE", { reason, cause: error });
}
