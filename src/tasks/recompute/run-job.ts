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
  /** The connection that holds the job. Everything is written on it. */
  session: Sql;
  /** For reading. */
  sql: Sql;
  models: Models;
}

/** What is written at once, so that memory is bounded: differences and logs may be longer than what they are made of. */
const WRITE_BYTES = 4 * 1024 * 1024;
/** What was gone through is written after so long: who stops, or asks how far it is, does not wait for a chunk of long histories. */
const HAND_MS = 1_000;
/** While nothing is written: how often the job is touched. */
const TOUCH_MS = 5_000;
/** Of synchronous work, before whatever else the process does gets its turn. */
const TURN_MS = 10;

/**
 * Does an attempt at a job, from where the attempt before ended, and answers whether it came to the end.
 *
 * @param goesOn asked whenever something is written
 * @throws {TakenOver} where another worker has it by now
 * @throws {CustomerFailed} where a customer cannot be replayed or written; those before it are written
 */
export async function runJob(dependencies: RunDependencies, job: RecomputeJob, goesOn: () => boolean) {
  const { session, sql } = dependencies;
  const lease = new Lease(session, job);
  if (job.kind === "backtest") {
    const backtest = await openBacktest(dependencies, job, () => lease.touchInTime());
    const isSampled = await pass(backtest.chunks(), backtest, lease, goesOn);
    const report = isSampled ? await backtest.report(goesOn) : null;
    if (report !== null) await call(session, "finish_backtest", job, report);
    return report !== null;
  }
  const customers = new JobCustomers(sql, job, await modelsOf(dependencies, job));
  const sink: ResultSink =
    job.kind === "recompute"
      ? new WriteSink(session, job, customers)
      : new RecordSink(session, job, customers, () => lease.touchInTime());
  const isDone = await pass(customers.chunks(), sink, lease, goesOn);
  if (isDone) await call(session, "finish_recompute", job);
  return isDone;
}

/** While some customers are written, the next ones are gone through and those after them read. */
async function pass<Customer>(
  chunks: AsyncIterable<string[]>,
  sink: ResultSink<Customer>,
  lease: Lease,
  goesOn: () => boolean,
): Promise<boolean> {
  let prepared: Prepared[] = [];
  let bytes = 0;
  let handedAt = performance.now();
  let writing = Promise.resolve();
  /** Answers whether to go on. */
  const hand = async (): Promise<boolean> => {
    await writing;
    writing = sink.write(prepared).then(() => lease.touch());
    // Whoever ends before it is awaited does not leave a failure that nobody hears of.
    writing.catch(() => undefined);
    prepared = [];
    bytes = 0;
    handedAt = performance.now();
    return goesOn();
  };
  let turnBegan = performance.now();
  for await (const chunk of chunks) {
    for (const [index, text] of chunk.entries()) {
      if (performance.now() - turnBegan > TURN_MS) {
        await nextTurn();
        turnBegan = performance.now();
      }
      const one = await sink.prepare(JSON.parse(text) as Customer);
      prepared.push(one);
      bytes += one.bytes;
      const isDue = index === chunk.length - 1 || bytes > WRITE_BYTES || performance.now() - handedAt > HAND_MS;
      if (isDue && !(await hand())) {
        await writing;
        return false;
      }
    }
  }
  await writing;
  return true;
}

/** That the attempt still is the job's present one. */
class Lease {
  #touchedAt = performance.now();

  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
  ) {}

  /** @throws {TakenOver} where another worker has the job by now */
  async touch(): Promise<void> {
    this.#touchedAt = performance.now();
    const done = await call(this.session, "touch_recompute", this.job);
    if (done === null) throw new TakenOver("another worker has the job");
  }

  /** The same, if it is a while ago. */
  async touchInTime(): Promise<void> {
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
