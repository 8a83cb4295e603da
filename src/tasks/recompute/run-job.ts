import { setImmediate as nextTurn } from "node:timers/promises";
import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { RecomputeJob } from "../../db/api/recompute.js";
import type { Models } from "../../evaluation/models.js";
import { openBacktest } from "./backtest.js";
import type { JobModels } from "./customer-run.js";
import { JobCustomers, TakenOver } from "./job-customers.js";
import { type Prepared, RecordSink, type ResultSink, WriteSink } from "./sinks.js";

export interface RunDependencies {
  /** The connection that holds the job; used for all writes. */
  session: Sql;
  /** For reading. */
  sql: Sql;
  models: Models;
}

/** Limit of what is written at once, to bound memory: differences and logs may be larger than the history they result from. */
const WRITE_BYTES = 4 * 1024 * 1024;
/** Results are written at least this often, so that neither a stop nor the job's progress waits for a chunk of long histories. */
const FLUSH_MS = 1_000;
/** How often the job is touched while nothing is written. */
const TOUCH_MS = 5_000;
/** Length of synchronous work before the process yields to other tasks. */
const SLICE_MS = 10;

/**
 * Makes an attempt at a job, from where the previous attempt ended; returns whether the job is done.
 *
 * @param shouldContinue called at each write; false ends the attempt
 * @throws {TakenOver} if another worker has taken the job over
 * @throws {CustomerFailed} if a customer cannot be replayed or written; those before it are written
 */
export async function runJob(dependencies: RunDependencies, job: RecomputeJob, shouldContinue: () => boolean) {
  const { session, sql } = dependencies;
  const lease = new Lease(session, job);
  if (job.kind === "backtest") {
    const backtest = await openBacktest(dependencies, job, () => lease.touchIfDue());
    const isSampled = await pass(backtest.chunks(), backtest, lease, shouldContinue);
    const report = isSampled ? await backtest.report(shouldContinue) : null;
    if (report !== null) await call(session, "finish_backtest", job, report);
    return report !== null;
  }
  const customers = new JobCustomers(sql, job, await modelsOf(dependencies, job));
  const sink: ResultSink =
    job.kind === "recompute"
      ? new WriteSink(session, job, customers)
      : new RecordSink(session, job, customers, () => lease.touchIfDue());
  const isDone = await pass(customers.chunks(), sink, lease, shouldContinue);
  if (isDone) await call(session, "finish_recompute", job);
  return isDone;
}

/** Processes all chunks as a pipeline: while some customers are written, the next are replayed and the ones after those are read. */
async function pass<Customer>(
  chunks: AsyncIterable<string[]>,
  sink: ResultSink<Customer>,
  lease: Lease,
  shouldContinue: () => boolean,
): Promise<boolean> {
  let prepared: Prepared[] = [];
  let bytes = 0;
  let flushedAt = performance.now();
  let writing = Promise.resolve();
  /** Starts writing what is prepared, once the write before has ended; returns whether to continue. */
  const flush = async (): Promise<boolean> => {
    await writing;
    writing = sink.write(prepared).then(() => lease.touch());
    // Avoid an unhandled rejection if this pass fails before it is awaited.
    writing.catch(() => undefined);
    prepared = [];
    bytes = 0;
    flushedAt = performance.now();
    return shouldContinue();
  };
  let sliceBegan = performance.now();
  for await (const chunk of chunks) {
    for (const [index, text] of chunk.entries()) {
      if (performance.now() - sliceBegan > SLICE_MS) {
        await nextTurn();
        sliceBegan = performance.now();
      }
      const one = await sink.prepare(JSON.parse(text) as Customer);
      prepared.push(one);
      bytes += one.bytes;
      const isDue = index === chunk.length - 1 || bytes > WRITE_BYTES || performance.now() - flushedAt > FLUSH_MS;
      if (isDue && !(await flush())) {
        await writing;
        return false;
      }
    }
  }
  await writing;
  return true;
}

/** Proof that this attempt still owns the job. */
class Lease {
  #touchedAt = performance.now();

  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
  ) {}

  /** @throws {TakenOver} if another worker has taken the job over */
  async touch(): Promise<void> {
    this.#touchedAt = performance.now();
    const done = await call(this.session, "touch_recompute", this.job);
    if (done === null) throw new TakenOver("another worker has the job");
  }

  /** Touches the job if the last touch is more than TOUCH_MS ago. */
  async touchIfDue(): Promise<void> {
    if (performance.now() - this.#touchedAt > TOUCH_MS) await this.touch();
  }
}

async function modelsOf({ sql, models }: RunDependencies, job: RecomputeJob): Promise<JobModels> {
  const pinned = await models.get(job, (version) => call(sql, "load_snapshot", job.projectId, version));
  if (job.kind !== "preview") return { replayed: pinned, active: null };
  return {
    replayed: await models.of(job.snapshotHash!, "the snapshot of the preview", () => Promise.resolve(job.snapshot)),
    active: pinned,
  };
}
